//! Pieces of error messages about tables: a cell, names of columns.

use std::fmt;

use crate::place::{ClassList, FileRef, Found};

/// A cell of a table: its file, its line (or its row, in a format without lines) and its column.
///
/// Prints as `FILE, line N, column "NAME"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellPlace {
    file: FileRef,
    /// Name of what `number` counts.
    unit: &'static str,
    /// Counted from 1.
    number: usize,
    column: Found,
}

impl CellPlace {
    pub(super) fn new(file: &FileRef, unit: &'static str, number: usize, column: &str) -> Self {
        Self {
            file: file.clone(),
            unit,
            number,
            column: Found::new(column),
        }
    }
}

impl fmt::Display for CellPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            unit,
            number,
            column,
        } = self;
        write!(f, "{file}, {unit} {number}, column {column}")
    }
}

/// Names of columns in an error message.
///
/// Prints as `a, b, c`, or as `none`. Of more than 20 names the first 20 are printed and the rest are
/// counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnList(Option<ClassList>);

impl ColumnList {
    pub(super) fn new(names: &[String]) -> Self {
        Self((!names.is_empty()).then(|| ClassList::new(names)))
    }
}

impl fmt::Display for ColumnList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("none"),
            Some(names) => names.fmt(f),
        }
    }
}
