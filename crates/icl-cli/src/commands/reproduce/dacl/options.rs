//! The options of `icl reproduce dacl1` and `dacl4`.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::{Arg, Args, Subcommand};
use icl_report::dacl::{DaclDataSet, DaclSettings, DaclTarget};

use crate::options::data::DataDirOption;
use crate::options::execution::{BackendOption, SeedsOption};
use crate::options::output::OutOption;
use crate::process::failure::Failure;

const DETAILS: &str = "\
Every row, data set and seed is a line of DIR/TARGET.jsonl, written as soon as it is there. The same command runs \
the rows that are missing, so that it continues after an interruption. It writes DIR/TARGET.html and DIR/TARGET.md \
with the numbers of the paper, ours, and a verdict on each claim. A data set that is not there is skipped.";

/// Number of seeds.
const N_SEEDS: u64 = 3;

/// Output folder.
const OUT: &str = "icl-runs/dacl";

/// Tables of DACL.
#[derive(Debug, Subcommand)]
pub enum DaclCommand {
    /// Table 1 of DACL: mixup noise on tables
    Dacl1(DaclOptions),
    /// Table 4 of DACL: hidden mixup on graphs
    Dacl4(DaclOptions),
}

/// Options of a table of DACL.
#[derive(Debug, Args)]
#[command(after_help = DETAILS, mut_args(refined))]
pub struct DaclOptions {
    #[command(flatten)]
    data_dir: DataDirOption,
    /// Data sets of the table, comma-separated. Without it, all
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = "Data"
    )]
    data_sets: Vec<String>,
    /// Use at most N samples of a data set, balanced across classes (dacl1 only)
    #[arg(long, value_name = "N", help_heading = "Data")]
    limit: Option<usize>,
    /// Width of each layer. Without it, 128 for dacl1, whose shallow encoder is twice as wide, and 64 for dacl4
    #[arg(long, value_name = "WIDTH", help_heading = "Encoder")]
    width: Option<usize>,
    /// Number of epochs of the training without labels. Without it, 40 for dacl1 and 20 for dacl4
    #[arg(long, value_name = "N", help_heading = "Training")]
    epochs: Option<usize>,
    /// Maximum batch size; a quarter of the training samples where they are few. Without it, 512 for dacl1 and
    /// 128 for dacl4
    #[arg(long, value_name = "N", help_heading = "Training")]
    batch_size: Option<usize>,
    #[command(flatten)]
    seeds: SeedsOption,
    #[command(flatten)]
    backend: BackendOption,
    /// Maximum number of minutes after which a row may start; 0 starts none and writes the page
    #[arg(long, value_name = "MINUTES", help_heading = "Execution")]
    budget: Option<f64>,
    #[command(flatten)]
    out: OutOption,
}

/// Returns a shared option as these commands take it.
fn refined(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "seeds" => option.default_value(N_SEEDS.to_string()),
        "out" => option
            .help("Output folder; rows that are in it are not run again")
            .default_value(OUT),
        _ => option,
    }
}

/// Checked options.
#[derive(Debug)]
pub struct DaclRequest {
    /// Table.
    pub target: DaclTarget,
    /// Data sets that are asked for.
    pub data_sets: Vec<DaclDataSet>,
    /// Folder of all data sets.
    pub data_dir: PathBuf,
    /// Settings of all records.
    pub settings: DaclSettings,
    /// Number of seeds.
    pub n_seeds: u64,
    /// Maximum number of seconds after which a row may start.
    pub budget_s: Option<f64>,
    /// Output folder.
    pub out: PathBuf,
    /// Command for the page, without what depends on the machine.
    pub command: String,
}

impl DaclCommand {
    /// Checks the options.
    ///
    /// # Errors
    /// At the first value that is not valid.
    pub fn request(&self) -> Result<DaclRequest, Failure> {
        match self {
            Self::Dacl1(options) => options.request(DaclTarget::Table1, (128, 40, 512)),
            Self::Dacl4(options) => options.request(DaclTarget::Table4, (64, 20, 128)),
        }
    }
}

impl DaclOptions {
    /// Checks the options of a table, with these defaults of width, epochs and batch size.
    fn request(
        &self,
        target: DaclTarget,
        (width, epochs, batch_size): (usize, usize, usize),
    ) -> Result<DaclRequest, Failure> {
        let wrong = |option: &str, found: String, expected: &str| {
            Failure::input(anyhow!("{option}: found {found}, expected {expected}"))
        };
        let settings = DaclSettings {
            epochs: self.epochs.unwrap_or(epochs),
            batch_size: self.batch_size.unwrap_or(batch_size),
            width: self.width.unwrap_or(width),
            limit: self.limit,
            backend: self.backend.clone().fill()?.to_owned(),
        };
        let n_seeds = self.seeds.seeds.unwrap_or(N_SEEDS);
        let numbers = [
            ("seeds", n_seeds as usize, 1, "at least 1"),
            ("epochs", settings.epochs, 1, "at least 1"),
            ("batch-size", settings.batch_size, 4, "at least 4"),
            ("width", settings.width, 1, "at least 1"),
            ("limit", self.limit.unwrap_or(100), 100, "at least 100"),
        ];
        for (option, found, least, expected) in numbers {
            if found < least {
                return Err(wrong(option, found.to_string(), expected));
            }
        }
        if self.limit.is_some() && target == DaclTarget::Table4 {
            let found = "it with dacl4".to_owned();
            return Err(wrong("limit", found, "it with dacl1 only"));
        }
        if let Some(minutes) = self.budget
            && !(minutes.is_finite() && minutes >= 0.0)
        {
            return Err(wrong("budget", minutes.to_string(), "minutes, 0 or more"));
        }
        self.out.check()?;
        let out = self.out.out.as_deref().unwrap_or(Path::new(OUT));
        if out.exists() && !out.is_dir() {
            let found = format!("a file at {}", out.display());
            return Err(wrong("out", found, "a folder or nothing"));
        }
        Ok(DaclRequest {
            target,
            data_sets: self.chosen(target)?,
            data_dir: self.data_dir.folder(),
            command: self.command(target, n_seeds),
            settings,
            n_seeds,
            budget_s: self.budget.map(|minutes| minutes * 60.0),
            out: out.to_owned(),
        })
    }

    /// Returns the data sets of the table that are asked for, in its order.
    fn chosen(&self, target: DaclTarget) -> Result<Vec<DaclDataSet>, Failure> {
        let all = target.data_sets();
        let is = |data: &DaclDataSet, name: &String| data.name().eq_ignore_ascii_case(name);
        let is_known = |name: &&String| all.iter().any(|data| is(data, name));
        if let Some(name) = self.data_sets.iter().find(|name| !is_known(name)) {
            let known: Vec<&str> = all.iter().map(|data| data.name()).collect();
            return Err(Failure::input(anyhow!(
                "data-sets: found \"{name}\", expected one of {}",
                known.join(", ")
            )));
        }
        let is_chosen = |data: &&DaclDataSet| {
            self.data_sets.is_empty() || self.data_sets.iter().any(|name| is(data, name))
        };
        Ok(all.iter().filter(is_chosen).copied().collect())
    }

    fn command(&self, target: DaclTarget, n_seeds: u64) -> String {
        let mut command = format!("icl reproduce {} --seeds {n_seeds}", target.name());
        if !self.data_sets.is_empty() {
            command += &format!(" --data-sets {}", self.data_sets.join(","));
        }
        let numbers = [
            ("limit", self.limit),
            ("width", self.width),
            ("epochs", self.epochs),
            ("batch-size", self.batch_size),
        ];
        for (option, value) in numbers {
            if let Some(value) = value {
                command += &format!(" --{option} {value}");
            }
        }
        command
    }
}
