//! The options of `icl-lab reproduce`.

use std::path::PathBuf;

use crate::pages::paper::{MethodSet, Target};
use clap::{Arg, Args, FromArgMatches};
use icl_cli::parts::{
    EncoderKind, EncoderOptions, Failure, PAPER_SIDE, ReadingOptions, TrainingOptions, checked,
    choice,
};
use icl_train::StopRule;
use toml::{Table, Value};

use crate::commands::reproduction::{RowsOptions, SetsOptions, check_folder, wrong};

const DETAILS: &str = "\
Every data set, growth ratio and seed is a cell: a process of its own that runs all methods of the target with \
these options. Finished cells are kept in DIR/cells and not run again with the same options, so the same \
command continues after an interruption. It writes DIR/TARGET.html and DIR/TARGET.md with the numbers of the \
paper, ours under the rule of the paper and by time to target, and the conclusions.";

/// Number of seeds.
const N_SEEDS: u64 = 5;

/// Maximum number of cells that run at the same time.
const MOST_JOBS: usize = 2;

/// Output folder.
const OUT: &str = "icl-runs/reproduction";

/// Folder of the cells in the output folder.
const CELLS: &str = "cells";

/// Options of `icl-lab reproduce`.
#[derive(Debug, Args)]
#[command(after_help = DETAILS, mut_args(refined))]
pub struct ReproduceOptions {
    /// table3, table4, fig2, fig3, fig4, fig5 or all
    #[arg(id = "wanted", value_name = "TARGET", required = true, value_parser = wanted)]
    target: Option<Wanted>,
    #[command(flatten)]
    pub sets: SetsOptions,
    /// Growth ratios of the target, comma-separated. Without it, all
    #[arg(
        long,
        value_name = "ALPHAS",
        value_delimiter = ',',
        help_heading = "Data"
    )]
    pub alphas: Vec<f64>,
    #[command(flatten)]
    pub reading: ReadingOptions,
    #[command(flatten)]
    pub encoder: EncoderOptions,
    #[command(flatten)]
    pub training: TrainingOptions,
    /// Run all methods, not only those of the paper and ours
    #[arg(long, help_heading = "Method")]
    pub all_methods: bool,
    #[command(flatten)]
    pub rows: RowsOptions,
    /// Number of cells that run at the same time, 1 or 2
    #[arg(long, value_name = "N", default_value_t = MOST_JOBS, help_heading = "Execution")]
    pub jobs: usize,
}

/// Returns a shared option as this command takes it.
fn refined(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "seeds" => option.default_value(N_SEEDS.to_string()),
        // The rule of the exact risk may end a run before the epochs that the paper counts.
        "stop" => {
            let rules = [StopRule::TrainingLoss, StopRule::Never];
            let [paper, never] = rules.map(|rule| choice::name(&rule));
            option
                .value_parser(choice::among::<StopRule>(&[paper, never]))
                .default_value(paper)
        }
        "image_size" => option
            .help("Side of a view in pixels (images only)")
            .default_value(PAPER_SIDE.to_string()),
        "data_sets" => option.help(
            "Data sets of the target, comma-separated: PROTEINS, REDDIT-BINARY, MNIST-2 or ImageNet-2. Without \
             it, all",
        ),
        "out" => option
            .help("Output folder; cells that are in it are not run again")
            .default_value(OUT),
        _ => option,
    }
}

/// One target, or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    One(Target),
    All,
}

impl Wanted {
    /// Returns the targets.
    pub fn targets(self) -> Vec<Target> {
        match self {
            Self::One(target) => vec![target],
            Self::All => Target::ALL.into(),
        }
    }
}

impl ReproduceOptions {
    /// Checks everything that does not depend on the target.
    ///
    /// # Errors
    /// At the first value that is not valid.
    pub fn check(&self) -> Result<(), Failure> {
        if self.rows.seeds == 0 {
            return Err(wrong("seeds", 0, "at least 1"));
        }
        checked(self.training.clone().settings(None), 1)?;
        if !(1..=MOST_JOBS).contains(&self.jobs) {
            return Err(wrong("jobs", self.jobs, "1 or 2"));
        }
        self.rows.check_budget()?;
        self.rows.backend()?;
        check_folder(&self.rows.out)
    }

    /// Returns the target. It is required but with a subcommand, which has none.
    pub fn target(&self) -> Wanted {
        self.target.unwrap_or(Wanted::All)
    }

    /// Returns the folder of the cells.
    pub fn cells(&self) -> PathBuf {
        self.rows.out.join(CELLS)
    }

    /// Says how to continue after an early end.
    pub fn how_to_continue(&self) -> String {
        format!(
            "the same command continues with the missing ones in {}",
            self.cells().display()
        )
    }

    /// Returns the methods of a target's cells.
    pub fn methods(&self, target: Target) -> MethodSet {
        if self.all_methods {
            MethodSet::All
        } else {
            target.methods()
        }
    }

    /// Returns the options that a cell shares with all others of its kind of data, as its
    /// configuration has them.
    ///
    /// # Errors
    /// If a path is not UTF-8.
    pub fn of_cells(&self, is_image: bool) -> Result<Table, Failure> {
        let mut training = self.training.clone();
        // Fills in the patience.
        training.settings(None);
        let mut options = Table::new();
        options.insert("backend".to_owned(), self.rows.backend()?.into());
        options.extend(table(&training)?);
        if is_image {
            options.extend(table(&self.reading)?);
            options.extend(table(&self.encoder)?);
            // The paper's encoder, whatever the size of the images.
            let encoder = options.entry("encoder".to_owned());
            encoder.or_insert_with(|| choice::name(&EncoderKind::Resnet18).into());
        }
        Ok(options)
    }

    /// Returns the command for the pages, without what depends on the machine.
    ///
    /// # Errors
    /// If a path is not UTF-8.
    pub fn command(&self) -> Result<String, Failure> {
        let target = match self.target() {
            Wanted::One(target) => target.name(),
            Wanted::All => "all",
        };
        let mut command = format!("icl-lab reproduce {target} --seeds {}", self.rows.seeds);
        command += &self.sets.command();
        if !self.alphas.is_empty() {
            let alphas: Vec<String> = self.alphas.iter().map(f64::to_string).collect();
            command += &format!(" --alphas {}", alphas.join(","));
        }
        let has_images = self.target_has_images();
        let mut default = defaults()?;
        // The patience depends on it.
        default.training.stop = self.training.stop;
        let default = default.of_cells(has_images)?;
        for (key, value) in self.of_cells(has_images)? {
            let is_shown = ["epochs", "stop", "image-size"].contains(&key.as_str());
            if is_shown || default.get(&key) != Some(&value) {
                let separator = if value.is_bool() { '=' } else { ' ' };
                command += &format!(" --{key}{separator}{}", written(&value));
            }
        }
        if self.all_methods {
            command += " --all-methods";
        }
        Ok(command + &format!(" --jobs {}", self.jobs))
    }

    /// Whether one of its targets shows images, whether or not they are run.
    fn target_has_images(&self) -> bool {
        let targets = self.target().targets();
        let sets = targets.iter().flat_map(|target| target.data_sets());
        let names = &self.sets.data_sets;
        let is_named = |name: &str| names.is_empty() || names.iter().any(|n| n == name);
        sets.into_iter()
            .any(|set| set.is_image() && is_named(set.name()))
    }
}

/// Writes a value as a command has it.
pub fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(written).collect::<Vec<_>>().join(", "),
        value => value.to_string(),
    }
}

fn table(options: &impl serde::Serialize) -> Result<Table, Failure> {
    Table::try_from(options).map_err(Failure::input)
}

/// Returns the options of a command line that gives none.
fn defaults() -> Result<ReproduceOptions, Failure> {
    let command = ReproduceOptions::augment_args(clap::Command::new("reproduce"));
    let matches = command.try_get_matches_from(["reproduce", "all"]);
    matches
        .and_then(|matches| ReproduceOptions::from_arg_matches(&matches))
        .map_err(|error| Failure::Other(error.into()))
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
