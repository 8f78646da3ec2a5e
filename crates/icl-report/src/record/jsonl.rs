//! Files with one record per line.

use std::path::Path;

use icl_core::InputFile;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::ReportError;
use crate::record::comparison::{RunRecord, SCHEMA};

/// Size of the largest file of records that is read, in bytes: 256 MiB. A record takes a few kilobytes.
const MAX_BYTES: u64 = 256 << 20;

/// Reads the records of a `record.jsonl` that `icl run` wrote.
///
/// # Errors
/// If the file cannot be read, is no regular file or has more than 256 MiB, or a line is no record of this [`SCHEMA`].
pub fn read_records(path: &Path) -> Result<Vec<RunRecord>, ReportError> {
    let read = InputFile::open(path, MAX_BYTES).and_then(InputFile::text);
    let text = read.map_err(|error| {
        let found = format!("no readable file ({error})");
        ReportError::new(path.display(), found, "the record of an earlier run")
    })?;
    parse_records(path, &text, "icl run", SCHEMA)
}

/// Reads records, one per line, from the text of the file at `path`. An error names the file and the command that
/// writes such records.
///
/// # Errors
/// [`ReportError`] if a line is no record with the schema `expected`.
pub fn parse_records<R: DeserializeOwned>(
    path: &Path,
    text: &str,
    command: &'static str,
    expected: u32,
) -> Result<Vec<R>, ReportError> {
    let parse = |(at, text): (usize, &str)| {
        let place = format!("{}, line {}", path.display(), at + 1);
        // A later schema may have other fields, so the schema is checked first.
        match serde_json::from_str::<SchemaOnly>(text) {
            Ok(SchemaOnly { schema }) if schema != expected => {
                let found = format!("schema {schema}");
                Err(ReportError::new(place, found, expected))
            }
            _ => serde_json::from_str(text).map_err(|error| {
                // Without the line's number, which is always 1 to the parser.
                let why = error
                    .to_string()
                    .replace(" at line 1 column ", " at column ");
                let message = format!("expected a record of `{command}`: {why}");
                ReportError::new(place, message, "")
            }),
        }
    };
    text.lines().enumerate().map(parse).collect()
}

/// Part of a record that every version has.
#[derive(Deserialize)]
struct SchemaOnly {
    schema: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        let path = Path::new("out/record.jsonl");
        let parsed = parse_records::<RunRecord>(path, text, "icl run", SCHEMA);
        parsed.unwrap_err().to_string()
    }

    #[test]
    fn a_line_is_a_record_of_this_schema() {
        assert_eq!(
            message("{\"schema\":7,\"all\":\"else\"}"),
            "out/record.jsonl, line 1: found schema 7, expected 2"
        );
        assert!(message("{\"schema\":2}").starts_with(
            "out/record.jsonl, line 1: expected a record of `icl run`: missing field `method` at column"
        ));
        assert!(message("{\"schema\":2,\"method\":\"wa").contains("EOF while parsing"));
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = read_records(Path::new("no/such/record.jsonl")).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("no/such/record.jsonl: found no readable file (")
        );
    }
}
