//! Columns of a table and the features that they become.

use std::fmt;
use std::ops::Range;

use burn::serde::{Deserialize, Serialize};

use crate::named::named;

/// Kind of a column, by its values in the old data. Prints as its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(crate = "burn::serde", rename_all = "kebab-case")]
pub enum ColumnKind {
    /// `continuous`: numbers.
    Continuous,
    /// `skewed`: numbers of at least 0 with a skewness above 2, such as counts and amounts.
    Skewed,
    /// `binary`: exactly two different numbers.
    Binary,
    /// `categorical`: texts, each of which becomes one feature of 0 and 1.
    Categorical,
    /// `constant`: a single value, or none. The column is dropped.
    Constant,
    /// `excluded`: the column orders the rows of a split and is dropped.
    Excluded,
    /// `index`: the column numbers the rows and is dropped.
    Index,
}

named!(ColumnKind {
    Continuous: "continuous",
    Skewed: "skewed",
    Binary: "binary",
    Categorical: "categorical",
    Constant: "constant",
    Excluded: "excluded",
    Index: "index",
});

/// A column of a table and the features that it becomes.
///
/// Prints as `NAME: KIND`, with the number of features if that is not 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(crate = "burn::serde")]
pub struct TableColumn {
    /// Name.
    pub name: String,
    /// Kind.
    pub kind: ColumnKind,
    /// Names of the categories, in the order of their features; empty for numbers.
    pub categories: Vec<String>,
    /// `true` if the last feature of the column indicates a missing value.
    pub has_indicator: bool,
    /// Features of the column: its value, or one for each category, then the indicator if there is
    /// one; empty if the column is dropped.
    pub features: Range<usize>,
}

impl fmt::Display for TableColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.kind)?;
        match (self.features.len(), self.has_indicator) {
            (0, _) => f.write_str(", dropped"),
            (1, _) => Ok(()),
            (n, false) => write!(f, ", {n} features"),
            (n, true) => write!(f, ", {n} features with an indicator of missing values"),
        }
    }
}
