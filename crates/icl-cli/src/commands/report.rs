//! `icl report`: rebuilds the report of an earlier run.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::anyhow;
use icl_report::EmbeddingMap;

use crate::commands::run::{MAP, RECORD, REPORT};
use crate::options::command_line::ReportArguments;
use crate::process::failure::Failure;
use crate::process::terminal::print;

/// Reads `record.jsonl` and the map of a folder and writes `report.html` anew.
///
/// # Errors
/// If the folder holds no readable record, or the report cannot be written.
pub fn rebuild(arguments: &ReportArguments) -> Result<(), Failure> {
    let folder = &arguments.folder;
    let records = icl_report::read_records(&folder.join(RECORD)).map_err(Failure::input)?;
    let map = read_map(&folder.join(MAP))?;
    let html = icl_report::comparison_document(&records, map.as_ref())
        .map(|document| document.html())
        .map_err(|error| Failure::input(anyhow!("{}: {error}", folder.join(RECORD).display())))?;
    // Written beside and renamed, so that the old report is there until the new one is whole.
    let (path, beside) = (folder.join(REPORT), folder.join(format!("{REPORT}.new")));
    std::fs::write(&beside, html)
        .and_then(|()| std::fs::rename(&beside, &path))
        .map_err(|error| {
            // Nothing half-written is left.
            let _ = std::fs::remove_file(&beside);
            Failure::file(&path, "cannot be written", error)
        })?;
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
