//! Options that all reproductions share.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use icl_cli::parts::{
    BACKEND_VALUE, Failure, backend_help, bounds, check_out, data_dir_help, fill_backend,
};
use icl_data::catalogue;

/// The data sets of a target, and their folder.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data")]
pub struct SetsOptions {
    #[arg(long, value_name = "DIR", help = data_dir_help())]
    data_dir: Option<PathBuf>,
    /// Data sets of the target, comma-separated. Without it, all
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub data_sets: Vec<String>,
}

impl SetsOptions {
    /// Returns the option of the data sets as the command on a page has it; empty without names.
    pub fn command(&self) -> String {
        match self.data_sets.as_slice() {
            [] => String::new(),
            names => format!(" --data-sets {}", names.join(",")),
        }
    }

    /// Returns the folder of all data sets.
    pub fn folder(&self) -> PathBuf {
        self.data_dir.clone().unwrap_or_else(catalogue::folder)
    }
}

/// The length of the trainings of a table's rows. Each command has its own defaults.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Training")]
pub struct PassesOptions {
    /// Number of epochs
    #[arg(long, value_name = "N", value_parser = bounds::at_most(bounds::EPOCHS), required = false)]
    pub epochs: usize,
    /// Batch size
    #[arg(long, value_name = "N", value_parser = bounds::at_most(bounds::BATCH), required = false)]
    pub batch_size: usize,
}

/// Seeds, backend, time and output folder of the cells or rows of a target. Each command has its own default of the
/// seeds and of the folder.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Execution")]
pub struct RowsOptions {
    /// Number of seeds: run the seeds 0 to N − 1
    #[arg(long, value_name = "N", value_parser = bounds::at_most(bounds::SEEDS), required = false)]
    pub seeds: u64,
    #[arg(long, value_name = BACKEND_VALUE, help = backend_help())]
    backend: Option<String>,
    /// Maximum number of minutes after which a cell, or a row, may start; 0 starts none and writes the pages
    #[arg(long, value_name = "MINUTES")]
    pub budget: Option<f64>,
    /// Output folder; rows that are in it are not run again
    #[arg(long, value_name = "DIR", required = false, help_heading = "Output")]
    pub out: PathBuf,
}

impl RowsOptions {
    /// Checks the number of minutes.
    ///
    /// # Errors
    /// If it is below 0 or not finite.
    pub fn check_budget(&self) -> Result<(), Failure> {
        match self.budget {
            Some(found) if !(found.is_finite() && found >= 0.0) => {
                Err(wrong("budget", found, "minutes, 0 or more"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the number of seconds after which nothing starts, if there is one.
    pub fn budget_s(&self) -> Option<f64> {
        self.budget.map(|minutes| minutes * 60.0)
    }

    /// Returns the name of the backend and its device, the first backend of this program where none is named.
    ///
    /// # Errors
    /// If there is none of this name, or several devices are named.
    pub fn backend(&self) -> Result<String, Failure> {
        fill_backend(&mut self.backend.clone()).map(ToOwned::to_owned)
    }
}

/// Checks the output folder.
///
/// # Errors
/// If its name is not UTF-8, or something else is there.
pub fn check_folder(out: &Path) -> Result<(), Failure> {
    check_out(Some(out))?;
    if out.exists() && !out.is_dir() {
        let found = format!("a file at {}", out.display());
        return Err(wrong("out", found, "a folder or nothing"));
    }
    Ok(())
}

/// Returns the failure of an option.
pub fn wrong(option: &str, found: impl Display, expected: &str) -> Failure {
    Failure::input(anyhow!("{option}: found {found}, expected {expected}"))
}
