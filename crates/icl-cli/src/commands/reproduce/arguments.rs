//! What `icl reproduce` is told.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use icl_models::Stem;
use icl_report::paper::{MethodSet, Target};
use icl_train::StopRule;

use crate::backend;
use crate::commands::reproduce::targets;
use crate::options::values::named;
use crate::process::failure::Failure;

/// The most processes beside each other.
const MOST_JOBS: usize = 2;

/// The options of `icl reproduce`.
#[derive(Debug, Args)]
pub struct ReproduceArguments {
    /// table3, table4, fig2, fig3, fig4, fig5 or all
    #[arg(value_name = "TARGET", value_parser = wanted)]
    pub target: Wanted,
    /// The folder of the data: graphs/NAME.zip or graphs/NAME, mnist, imagenet-2 or photos
    /// [default: that of ICL_DATA_DIR, else ../shared/data]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// A data set of the target: PROTEINS, REDDIT-BINARY, MNIST-2 or ImageNet-2; may be repeated
    /// [default: all]
    #[arg(long, value_name = "NAME")]
    pub data: Vec<String>,
    /// A growth ratio of the target; may be repeated [default: all]
    #[arg(long, allow_negative_numbers = true)]
    pub alpha: Vec<f64>,
    /// Run the seeds 0 to N − 1
    #[arg(
        long,
        value_name = "N",
        default_value_t = 5,
        allow_negative_numbers = true
    )]
    pub seeds: u64,
    /// The most epochs of each training run
    #[arg(long, default_value_t = 300, allow_negative_numbers = true)]
    pub epochs: usize,
    /// What ends a training run early: training-loss (the paper's rule) or never
    #[arg(long, default_value = "training-loss", value_parser = stop_rule)]
    pub stop: StopRule,
    /// Of images: the side of a view in pixels
    #[arg(
        long,
        value_name = "P",
        default_value_t = 224,
        allow_negative_numbers = true
    )]
    pub image_size: usize,
    /// Of images: at most N, as evenly of each class as can be [default: all]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub limit: Option<usize>,
    /// Of images: how the encoder begins, small or standard [default: that of icl run]
    #[arg(long, value_name = "STEM", value_parser = named::<Stem>)]
    pub stem: Option<Stem>,
    /// Learning rate of every run [default: that of icl run]
    #[arg(long, allow_negative_numbers = true)]
    pub learning_rate: Option<f64>,
    /// The backend to run on, and which of its devices; `icl backends` lists them [default: the
    /// first that this binary holds]
    #[arg(long, value_name = "NAME[:DEVICE]")]
    pub backend: Option<String>,
    /// Run every method, not only the paper's and ours beside them
    #[arg(long)]
    pub all_methods: bool,
    /// Start no further cell after so many minutes; 0 starts none and writes the pages
    #[arg(long, value_name = "MINUTES", allow_negative_numbers = true)]
    pub budget: Option<f64>,
    /// Processes beside each other, 1 or 2
    #[arg(
        long,
        value_name = "N",
        default_value_t = 2,
        allow_negative_numbers = true
    )]
    pub jobs: usize,
    /// The folder to write; cells that are in it already are not run again
    #[arg(long, value_name = "DIR", default_value = "icl-runs/reproduction")]
    pub out: PathBuf,
    /// As --out, of a folder in which an earlier call has begun
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    pub resume: Option<PathBuf>,
}

/// One target, or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    One(Target),
    All,
}

impl ReproduceArguments {
    /// Checks what does not depend on the target.
    pub fn check(&self) -> Result<(), Failure> {
        let wrong = |option: &str, found: String, expected: &str| {
            Err(Failure::input(anyhow!(
                "{option}: found {found}, expected {expected}"
            )))
        };
        if self.seeds == 0 {
            return wrong("seeds", "0".into(), "at least 1");
        }
        if self.epochs == 0 {
            return wrong("epochs", "0".into(), "at least 1");
        }
        if !(1..=MOST_JOBS).contains(&self.jobs) {
            return wrong("jobs", self.jobs.to_string(), "1 or 2");
        }
        if let Some(minutes) = self.budget
            && !(minutes.is_finite() && minutes >= 0.0)
        {
            return wrong("budget", minutes.to_string(), "minutes, 0 or more");
        }
        if let Some(rate) = self.learning_rate
            && !(rate.is_finite() && rate > 0.0)
        {
            return wrong("learning-rate", rate.to_string(), "a number above 0");
        }
        if let Some(backend) = &self.backend {
            backend::check(backend)?;
        }
        match self.out.to_str() {
            Some("") => wrong("out", "no name".into(), "that of a folder"),
            None => wrong("out", self.out.display().to_string(), "a name in UTF-8"),
            Some(_) if self.out.exists() && !self.out.is_dir() => wrong(
                "out",
                format!("a file at {}", self.out.display()),
                "a folder or nothing",
            ),
            Some(_) => Ok(()),
        }
    }

    /// The methods of a target's cells.
    pub fn methods(&self, target: Target) -> MethodSet {
        if self.all_methods {
            MethodSet::All
        } else {
            target.methods()
        }
    }

    /// Whether one of its targets shows images, whatever of them is run.
    fn target_has_images(&self) -> bool {
        let targets = targets(self.target);
        let sets = targets.iter().flat_map(|target| target.data_sets());
        let is_named = |name: &str| self.data.is_empty() || self.data.iter().any(|n| n == name);
        sets.into_iter()
            .any(|set| set.is_image() && is_named(set.name()))
    }

    /// The command without what depends on the machine, for the pages.
    pub fn command(&self) -> String {
        let target = match self.target {
            Wanted::One(target) => target.name(),
            Wanted::All => "all",
        };
        let mut command = format!("icl reproduce {target} --seeds {}", self.seeds);
        for name in &self.data {
            command += &format!(" --data {name}");
        }
        for alpha in &self.alpha {
            command += &format!(" --alpha {alpha}");
        }
        command += &format!(" --epochs {} --stop {}", self.epochs, stop_name(self.stop));
        if self.target_has_images() {
            command += &format!(" --image-size {}", self.image_size);
            if let Some(limit) = self.limit {
                command += &format!(" --limit {limit}");
            }
            if let Some(stem) = self.stem {
                command += &format!(" --stem {}", stem_name(stem));
            }
        }
        if let Some(rate) = self.learning_rate {
            command += &format!(" --learning-rate {rate}");
        }
        if let Some(backend) = &self.backend {
            command += &format!(" --backend {backend}");
        }
        if self.all_methods {
            command += " --all-methods";
        }
        command + &format!(" --jobs {}", self.jobs)
    }
}

/// A stem's name.
pub fn stem_name(stem: Stem) -> &'static str {
    match stem {
        Stem::Standard => "standard",
        Stem::Small => "small",
    }
}

/// A stop rule's name.
pub fn stop_name(rule: StopRule) -> &'static str {
    match rule {
        StopRule::ExactRisk => "exact-risk",
        StopRule::TrainingLoss => "training-loss",
        StopRule::Never => "never",
    }
}

fn wanted(name: &str) -> Result<Wanted, String> {
    if name == "all" {
        return Ok(Wanted::All);
    }
    let known = Target::ALL.map(Target::name);
    Target::ALL
        .into_iter()
        .find(|target| target.name() == name)
        .map(Wanted::One)
        .ok_or_else(|| format!("expected all or one of {}", known.join(", ")))
}

/// A rule that does not cut what the paper counts: the exact risk's may end a run before it.
fn stop_rule(name: &str) -> Result<StopRule, String> {
    [StopRule::TrainingLoss, StopRule::Never]
        .into_iter()
        .find(|rule| stop_name(*rule) == name)
        .ok_or_else(|| "expected training-loss or never".to_owned())
}
