//! Options that all reproductions share.

use anyhow::anyhow;
use clap::Args;

use crate::options::bounds;
use crate::process::failure::Failure;

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
    #[arg(long, value_name = "MINUTES", value_parser = bounds::number_in(bounds::MINUTES))]
    pub budget: Option<f64>,
}

impl BudgetOption {
    /// Checks the number of minutes.
    ///
    /// # Errors
    /// If it is below 0 or not finite.
    pub fn check(&self) -> Result<(), Failure> {
        match self.budget {
            Some(found) if !(found.is_finite() && found >= 0.0) => Err(Failure::input(anyhow!(
                "budget: found {found}, expected minutes, 0 or more"
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the number of seconds after which nothing starts, if there is one.
    pub fn seconds(&self) -> Option<f64> {
        self.budget.map(|minutes| minutes * 60.0)
    }
}
