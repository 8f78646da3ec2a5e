//! `icl report`: rebuilds the report of an earlier run.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use icl_report::EmbeddingMap;

use crate::files::run_results::{MAP, RECORD, REPORT, read_records};
use crate::files::whole;
use crate::process::failure::Failure;
use crate::process::terminal::print;

/// Options of `icl report`.
#[derive(Debug, Args)]
pub struct ReportOptions {
    /// Folder that `icl run` wrote
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Reads the record and the map in a folder and writes the report again.
///
/// # Errors
/// If the folder holds no readable record, or the report cannot be written.
pub fn rebuild(options: &ReportOptions) -> Result<(), Failure> {
    let folder = &options.folder;
    let records = read_records(&folder.join(RECORD))?;
    let map = read_map(&folder.join(MAP))?;
    let html = icl_report::html(&records, map.as_ref())
        .map_err(|error| Failure::input(anyhow!("{}: {error}", folder.join(RECORD).display())))?;
    let path = folder.join(REPORT);
    whole::replace(&path, html.as_bytes())?;
    print(path.display())
}

fn read_map(path: &Path) -> Result<Option<EmbeddingMap>, Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| {
            Failure::input(anyhow!(
                "{}: expected a map of `icl run`: {error}",
                path.display()
            ))
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::file(path, "cannot be read", error)),
    }
}
