//! Errors of records and documents.

use std::path::PathBuf;

use thiserror::Error;

/// Reason for which records cannot be read or shown.
#[derive(Debug, Error)]
pub enum ReportError {
    /// The records cannot be read as text.
    #[error("{}: found no readable file ({source}), expected the record of an earlier run", path.display())]
    Unreadable {
        /// File of the records.
        path: PathBuf,
        /// Reason.
        source: std::io::Error,
    },
    /// A line of a file is a record of another version of the schema.
    #[error("{}, line {line}: found schema {found}, expected {expected}", path.display())]
    LineSchema {
        /// File of the records.
        path: PathBuf,
        /// Number of the line, counted from 1.
        line: usize,
        /// Schema of the record.
        found: u32,
        /// [`SCHEMA`](crate::SCHEMA).
        expected: u32,
    },
    /// A line of a file is no record.
    #[error("{}, line {line}: expected a record of `{command}`: {}", path.display(), in_its_line(source))]
    Line {
        /// File of the records.
        path: PathBuf,
        /// Command that writes such records, with its program.
        command: &'static str,
        /// Number of the line, counted from 1.
        line: usize,
        /// Reason.
        source: serde_json::Error,
    },
    /// There are no records.
    #[error("there are no records to report")]
    Empty,
    /// A record has another version of the schema.
    #[error("record {position} has schema {found}, expected {expected}")]
    Schema {
        /// Position of the record, counted from 1.
        position: usize,
        /// Schema of the record.
        found: u32,
        /// Schema that this version reads.
        expected: u32,
    },
    /// A record's best evaluation is none of its evaluations.
    #[error(
        "record {position} has the best evaluation {found} (counted from 0), expected one of {n_evaluations} \
         evaluations"
    )]
    BestEvaluation {
        /// Position of the record, counted from 1.
        position: usize,
        /// Index of the best evaluation.
        found: usize,
        /// Number of the record's evaluations.
        n_evaluations: usize,
    },
    /// The records are of two comparisons.
    #[error("records of two comparisons: {field} is `{first}` in one and `{other}` in another")]
    Mixed {
        /// Field in which they differ.
        field: &'static str,
        /// Value in the first record.
        first: String,
        /// Other value.
        other: String,
    },
    /// A method has two records of one seed.
    #[error("method `{method}` has two records of seed {seed}")]
    Duplicate {
        /// Method.
        method: String,
        /// Seed.
        seed: u64,
    },
    /// A part of the map does not have one entry per sample.
    #[error("the map has {found} {part} for {expected} labels")]
    Map {
        /// Flags of new samples, or points of a map.
        part: String,
        /// Number of its entries.
        found: usize,
        /// Number of labels.
        expected: usize,
    },
    /// A part of a stream does not have one entry per experience.
    #[error("the stream has {found} {part}, expected {expected}")]
    Stream {
        /// List or matrix.
        part: String,
        /// Number of its entries.
        found: usize,
        /// Number that fits the names of the experiences.
        expected: usize,
    },
    /// A stream has two controls of one method.
    #[error("the stream has two controls `{method}`, expected one of each method")]
    Control {
        /// Method.
        method: String,
    },
}

impl ReportError {
    /// Checks the schema of a record at a position, counted from 1.
    pub(crate) fn check_schema(position: usize, found: u32, expected: u32) -> Result<(), Self> {
        match found == expected {
            true => Ok(()),
            false => Err(Self::Schema {
                position,
                found,
                expected,
            }),
        }
    }
}

/// Writes an error of a line without the line's number, which is always 1 to the parser.
fn in_its_line(error: &serde_json::Error) -> String {
    error
        .to_string()
        .replace(" at line 1 column ", " at column ")
}
