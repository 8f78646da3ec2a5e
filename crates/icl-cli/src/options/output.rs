//! The output of a command.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use icl_report::Document;
use serde::Serialize;

use crate::process::failure::Failure;
use crate::process::terminal::{print, width};

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

/// Files that a training writes beside its record.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Output")]
pub struct EventsOption {
    /// Write the course of the training for TensorBoard too
    #[arg(
        long,
        value_name = "BOOL",
        default_value_t = false,
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = clap::ArgAction::Set
    )]
    pub tensorboard: bool,
}

/// The form of what a command prints.
#[derive(Debug, Clone, PartialEq, Args)]
#[command(next_help_heading = "Output")]
pub struct JsonOption {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The form of the tables that a command prints.
#[derive(Debug, Clone, PartialEq, Args)]
#[command(next_help_heading = "Output")]
pub struct TableOption {
    /// Print every column of tables. Without it, the four most important ones
    #[arg(long)]
    wide: bool,
}

impl TableOption {
    /// Prints a document with tables as wide as the terminal, and the folder that was written.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn print(&self, document: &Document, folder: &Path) -> Result<(), Failure> {
        self.print_with(document, None, folder)
    }

    /// Prints as [`print`](Self::print) does, with lines between the document and the folder.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn print_with(
        &self,
        document: &Document,
        lines: Option<&str>,
        folder: &Path,
    ) -> Result<(), Failure> {
        let text = document.terminal(width(), self.wide);
        let lines = lines.map_or_else(String::new, |lines| format!("\n{lines}\n"));
        print(format_args!(
            "{text}{lines}\nwritten to {}",
            folder.display()
        ))
    }
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
