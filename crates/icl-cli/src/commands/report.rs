//! `icl report`: rebuilds the report of an earlier run.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::anyhow;
use icl_report::{EmbeddingMap, RunRecord};

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
    let records = read_records(&folder.join(RECORD))?;
    let map = read_map(&folder.join(MAP))?;
    let html = icl_report::html(&records, map.as_ref())
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

/// The records in a `record.jsonl`.
///
/// # Errors
/// If it cannot be read, or a line is no record of this schema.
pub fn read_records(path: &Path) -> Result<Vec<RunRecord>, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::input(anyhow!(
            "{}: found no readable file ({error}), expected the record of an earlier run",
            path.display()
        ))
    })?;
    let lines = text.lines().enumerate();
    let records = lines.map(|(index, line)| {
        let line_number = index + 1;
        let schema = serde_json::from_str::<SchemaOnly>(line).map(|line| line.schema);
        match schema {
            Ok(found) if found != icl_report::SCHEMA => Err(anyhow!(
                "{}, line {line_number}: found schema {found}, expected {}",
                path.display(),
                icl_report::SCHEMA
            )),
            _ => serde_json::from_str(line).map_err(|error| {
                // To the parser each line is the first.
                let error = error
                    .to_string()
                    .replace(" at line 1 column ", " at column ");
                anyhow!(
                    "{}, line {line_number}: expected a record of `icl run`: {error}",
                    path.display()
                )
            }),
        }
    });
    records.collect::<Result<_, _>>().map_err(Failure::Input)
}

#[derive(serde::Deserialize)]
struct SchemaOnly {
    schema: u32,
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
