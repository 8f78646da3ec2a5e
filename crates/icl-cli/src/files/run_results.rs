//! The results of `icl run`: their names, and its record read back.

use std::path::Path;

use anyhow::anyhow;
use icl_report::RunRecord;
use serde::Deserialize;

use crate::files::destination::CONFIG;
use crate::process::failure::Failure;

/// The record, a line for each method and seed.
pub const RECORD: &str = "record.jsonl";
/// The report.
pub const REPORT: &str = "report.html";
/// The coordinates of the report's map.
pub const MAP: &str = "map.json";
/// Beginning of the names of encoders.
pub const ENCODER: &str = "encoder-";

/// Whether `icl run` writes a file of this name.
pub fn is_result(name: &str) -> bool {
    [CONFIG, RECORD, REPORT, MAP].contains(&name)
        || name.starts_with(ENCODER) && name.ends_with(".safetensors")
}

/// Reads the records in a `record.jsonl`.
///
/// # Errors
/// If it cannot be read, or a line is not a record of this schema.
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

#[derive(Deserialize)]
struct SchemaOnly {
    schema: u32,
}
