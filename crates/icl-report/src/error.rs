//! Errors of records and documents.

use icl_core::Error;

/// Reason why records cannot be read or shown.
pub type ReportError = Error;

/// Checks the schema of a record at a position, counted from 1.
pub(crate) fn check_schema(position: usize, found: u32, expected: u32) -> Result<(), ReportError> {
    match found == expected {
        true => Ok(()),
        false => Err(Error::message(format!(
            "record {position} has schema {found}, expected {expected}"
        ))),
    }
}

/// Returns the error of a document without records.
pub(crate) fn empty() -> ReportError {
    Error::message("there are no records to report")
}
