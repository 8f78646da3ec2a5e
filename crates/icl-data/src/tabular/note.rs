//! Notes about a table that was read.

use std::fmt;

use crate::place::Found;

/// A decision of the reader that the user may not have meant. Prints as a sentence without a full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableNote {
    /// The first line could hold the names of the columns, or values.
    FirstLine {
        /// Whether it was read as names.
        is_header: bool,
    },
    /// The table does not have a column that is named by an option.
    Absent {
        /// Setting that names it: `target` or `exclude`.
        setting: &'static str,
        /// Column in question.
        column: Found,
    },
    /// The values of a column of text would be numbers in another notation.
    NumberForm {
        /// Column in question.
        column: Found,
        /// First such value.
        found: Found,
        /// The value as a number.
        expected: Found,
    },
}

impl fmt::Display for TableNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FirstLine { is_header: true } => f.write_str(
                "the first line was read as the names of the columns (`--header no` reads it as values)",
            ),
            Self::FirstLine { is_header: false } => f.write_str(
                "the first line was read as values (`--header yes` reads it as the names of the columns)",
            ),
            Self::Absent { setting, column } => {
                write!(f, "found no column {column}, which `--{setting}` names")
            }
            Self::NumberForm {
                column,
                found,
                expected,
            } => write!(
                f,
                "column {column}: found {found} and others like it, which are read as text; written as {expected} they \
                 are numbers"
            ),
        }
    }
}
