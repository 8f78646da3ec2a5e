//! What can be wrong with the records of a report.

use thiserror::Error;

/// Why no report can be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReportError {
    /// There is nothing to report.
    #[error("there are no records to report")]
    Empty,
    /// A record is of another version of the schema.
    #[error("record {position} has schema {found}, this program reads schema {expected}")]
    Schema {
        /// The record's place, counted from 1.
        position: usize,
        /// The record's schema.
        found: u32,
        /// [`SCHEMA`](crate::SCHEMA).
        expected: u32,
    },
    /// Records of two comparisons were put together.
    #[error("records of two comparisons: {field} is `{first}` in one and `{other}` in another")]
    Mixed {
        /// The field in which they differ.
        field: &'static str,
        /// Its value in the first record.
        first: String,
        /// The value that differs.
        other: String,
    },
    /// A method has two records of one seed.
    #[error("method `{method}` has two records of seed {seed}")]
    Duplicate {
        /// The method.
        method: String,
        /// The seed.
        seed: u64,
    },
    /// A part of the map does not have one entry a sample.
    #[error("the map has {found} {part} for {expected} labels")]
    Map {
        /// The flags of new samples, or the points of a panel.
        part: String,
        /// Its number of entries.
        found: usize,
        /// The number of labels.
        expected: usize,
    },
}
