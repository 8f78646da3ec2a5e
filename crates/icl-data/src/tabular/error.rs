//! Errors in tables that several readers meet.

use std::fmt::Display;

use crate::error::{DataError, DataErrorKind, too_many};
use crate::place::{Found, listed};

/// Largest number of values of a table: 2^28, or 1 GiB as features.
const MAX_VALUES: usize = 1 << 28;

/// Checks that a table has not too many values.
///
/// # Errors
/// If it has.
pub(super) fn check_n_values(file: impl Display, n: usize) -> Result<(), DataError> {
    match n <= MAX_VALUES {
        true => Ok(()),
        false => Err(too_many(file, n, "values", MAX_VALUES)),
    }
}

/// Returns the error of a text file that holds nothing, or of a table without columns.
pub(super) fn empty_table(file: impl Display) -> DataError {
    DataError::new(file, "an empty table", "rows of values").with_kind(DataErrorKind::Empty)
}

/// Returns the error of a table that holds a header and no rows.
pub(super) fn header_only(file: impl Display) -> DataError {
    DataError::new(file, "a header and no rows", "at least one row").with_kind(DataErrorKind::Empty)
}

/// Returns the error of a setting that names a column that does not exist.
pub(super) fn unknown_column(data: &str, found: &str, known: &[String]) -> DataError {
    let expected = format!("one of {}, or a number from 1", listed(known));
    let found = format!("no column {}", Found::new(found));
    DataError::new(Found::new(data), found, expected)
}
