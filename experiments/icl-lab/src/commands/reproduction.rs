//! Options that all reproductions share.

use std::fmt::Display;
use std::path::Path;

use anyhow::anyhow;
use clap::Args;
use icl_cli::parts::{Failure, OutOption};

/// The data sets of a target.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data")]
pub struct DataSetsOption {
    /// Data sets of the target, comma-separated. Without it, all
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub data_sets: Vec<String>,
}

impl DataSetsOption {
    /// Returns the option as the command on a page has it; empty without names.
    pub fn command(&self) -> String {
        match self.data_sets.as_slice() {
            [] => String::new(),
            names => format!(" --data-sets {}", names.join(",")),
        }
    }
}

/// The time in which new parts are started.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Execution")]
pub struct BudgetOption {
    /// Maximum number of minutes after which a cell, or a row, may start; 0 starts none and writes the pages
    #[arg(long, value_name = "MINUTES")]
    pub budget: Option<f64>,
}

impl BudgetOption {
    /// Checks the number of minutes.
    ///
    /// # Errors
    /// If it is below 0 or not finite.
    pub fn check(&self) -> Result<(), Failure> {
        match self.budget {
            Some(found) if !(found.is_finite() && found >= 0.0) => {
                Err(wrong("budget", found, "minutes, 0 or more"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the number of seconds after which nothing starts, if there is one.
    pub fn seconds(&self) -> Option<f64> {
        self.budget.map(|minutes| minutes * 60.0)
    }
}

/// Returns the output folder: that of the option, else the default one.
///
/// # Errors
/// If its name is not UTF-8, or something else is there.
pub fn out_folder<'a>(option: &'a OutOption, default: &'a str) -> Result<&'a Path, Failure> {
    option.check()?;
    let out = option.out.as_deref().unwrap_or(Path::new(default));
    if out.exists() && !out.is_dir() {
        let found = format!("a file at {}", out.display());
        return Err(wrong("out", found, "a folder or nothing"));
    }
    Ok(out)
}

/// Returns the failure of an option.
pub fn wrong(option: &str, found: impl Display, expected: &str) -> Failure {
    Failure::input(anyhow!("{option}: found {found}, expected {expected}"))
}
