//! The output of a command.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use serde::Serialize;

use crate::process::failure::Failure;

/// The folder of a command that has one.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Output")]
pub struct OutOption {
    /// Output folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

impl OutOption {
    /// Checks that `config.toml` can name the folder.
    ///
    /// # Errors
    /// If its name is not UTF-8.
    pub fn check(&self) -> Result<(), Failure> {
        self.out
            .iter()
            .try_for_each(|out| text("out", out).map(drop))
    }
}

/// The output of a command that may replace an earlier one.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Output")]
pub struct OutputOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub folder: OutOption,
    /// Replace the output of an earlier command
    #[arg(long)]
    #[serde(skip)]
    pub force: bool,
}

/// The form of what a command prints.
#[derive(Debug, Clone, PartialEq, Args)]
#[command(next_help_heading = "Output")]
pub struct JsonOption {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Returns a path as text, as `config.toml` and records have it.
///
/// # Errors
/// If the path, the value of `option`, is not UTF-8.
pub fn text<'a>(option: &str, path: &'a Path) -> Result<&'a str, Failure> {
    path.to_str().ok_or_else(|| {
        Failure::input(anyhow!(
            "{option}: found {}, expected a name in UTF-8",
            path.display()
        ))
    })
}
