//! The output of a command.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::{ArgAction, Args};
use icl_report::{CommandOutcome, Document};
use serde::Serialize;

use crate::files::destination::Destination;
use crate::files::whole;
use crate::process::failure::Failure;
use crate::process::terminal::{print, width};

/// The output folder of a command that may replace an earlier one, and the tables that the command prints.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Output")]
pub struct OutputOptions {
    /// Output folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the output of an earlier command
    #[arg(long)]
    #[serde(skip)]
    pub force: bool,
    /// Print every column of tables. Without it, the four most important ones
    #[arg(long)]
    #[serde(skip)]
    pub wide: bool,
}

/// The output of a command that trains one encoder.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Output")]
pub struct EncoderOutputOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub folder: OutputOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub json: JsonOption,
    /// Write the course of the training for TensorBoard too
    #[arg(
        long,
        value_name = "BOOL",
        default_value_t = false,
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = ArgAction::Set
    )]
    pub tensorboard: bool,
}

/// The form of what a command prints at its end.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Output")]
pub struct JsonOption {
    /// Print one JSON object instead of tables
    #[arg(
        long,
        value_name = "BOOL",
        default_value_t = false,
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = ArgAction::Set
    )]
    pub json: bool,
}

impl JsonOption {
    /// Prints the outcome of a command as JSON, or its document as [`print_document`] does.
    ///
    /// # Errors
    /// If the folder cannot be read, or standard output cannot be written.
    pub fn print(
        &self,
        outcome: CommandOutcome,
        (document, wide): (&Document, bool),
        lines: Option<&str>,
        folder: &Path,
    ) -> Result<(), Failure> {
        if !self.json {
            return print_document(document, wide, lines, folder);
        }
        let unreadable = |error| Failure::file(folder, "cannot be read", error);
        let entries = std::fs::read_dir(folder).map_err(unreadable)?;
        let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        let mut files: Vec<String> = names.collect::<Result<_, _>>().map_err(unreadable)?;
        // Others are locks and states.
        files.retain(|name| !name.starts_with('.'));
        files.sort_unstable();
        print_outcome(outcome, folder, files)
    }
}

/// Prints the outcome of a command that wrote these files in a folder.
///
/// # Errors
/// If standard output cannot be written.
pub fn print_outcome(
    outcome: CommandOutcome,
    folder: &Path,
    files: Vec<String>,
) -> Result<(), Failure> {
    let outcome = CommandOutcome {
        folder: folder.display().to_string(),
        files,
        ..outcome
    };
    print(serde_json::to_string_pretty(&outcome).map_err(|error| Failure::Other(error.into()))?)
}

impl OutputOptions {
    /// Returns the folder to write: the one that is named, or the first free one that is called `otherwise`.
    pub fn destination(&self, otherwise: &str) -> Destination {
        Destination::new(self.out.clone(), otherwise, self.force)
    }
}

/// Checks that `config.toml` can name the output folder.
///
/// # Errors
/// If its name is not UTF-8.
pub fn check_out(out: Option<&Path>) -> Result<(), Failure> {
    out.map_or(Ok(()), |out| text("out", out).map(drop))
}

/// Checks that an output folder is new, in a folder that exists, and its name text.
///
/// # Errors
/// If it is not.
pub fn check_new(out: &Path) -> Result<(), Failure> {
    check_out(Some(out))?;
    if out.symlink_metadata().is_ok() {
        return Err(Failure::input(anyhow!(
            "out: found {}, expected a new folder",
            out.display()
        )));
    }
    if !whole::folder_of(out).is_dir() {
        return Err(Failure::input(anyhow!(
            "out: found no folder for {}, expected an existing one",
            out.display()
        )));
    }
    Ok(())
}

/// Prints a document with tables as wide as the terminal, those of all columns if `wide`, then lines if there are any,
/// and the folder that was written.
///
/// # Errors
/// If standard output cannot be written.
pub fn print_document(
    document: &Document,
    wide: bool,
    lines: Option<&str>,
    folder: &Path,
) -> Result<(), Failure> {
    let text = document.terminal(width(), wide);
    let lines = lines.map_or_else(String::new, |lines| format!("\n{lines}\n"));
    print(format_args!(
        "{text}{lines}\nwritten to {}",
        folder.display()
    ))
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
