//! Settings of the reader of tables.

use burn::serde::{Deserialize, Serialize};

use crate::error::DataError;
use crate::named::named;

/// First line of a text table: names of the columns, or values. Prints and parses as its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(crate = "burn::serde", rename_all = "kebab-case")]
pub enum Header {
    /// `auto`: the first line holds names if none of its values is a number or `NA` (one may be empty, as that of a
    /// column of numbered rows) and either some column holds nothing but numbers below it, or none of its values
    /// occurs again in its column.
    #[default]
    Auto,
    /// `yes`: the first line holds the names of the columns.
    Yes,
    /// `no`: the first line holds values. The columns are named `1`, `2`, `3` and so on.
    No,
}

/// Treatment of missing values. Prints and parses as its name.
///
/// A value is missing if it is empty, `NA`, `N/A`, `NaN`, `null` or `?`, in upper or lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(crate = "burn::serde", rename_all = "kebab-case")]
pub enum Missing {
    /// `error`: a missing value is an error.
    #[default]
    Error,
    /// `mean`: a missing number is replaced by the mean of the old data, and a column with missing
    /// values in the old data gets an indicator column of 0 and 1. In a column of categories,
    /// *missing* is one more category.
    Mean,
}

/// Settings of [`read_table`](crate::read_table).
///
/// ```
/// use icl_data::{TableOptions, Missing};
///
/// let options = TableOptions {
///     target: Some("class".into()),
///     missing: Missing::Mean,
///     ..TableOptions::default()
/// };
/// assert!(options.exclude.is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableOptions {
    /// First line of a text table.
    pub header: Header,
    /// Column of the class of each row: its name, or its number counted from 1. Without one, the table
    /// has no classes; they are not needed for training.
    pub target: Option<String>,
    /// Treatment of missing values.
    pub missing: Missing,
    /// Columns that are not read: their names, or their numbers counted from 1.
    pub exclude: Vec<String>,
    /// Name of a column that names the rows. It is read even if it is excluded, and becomes no feature: it is one of
    /// the [`index_columns`](crate::RawTable::index_columns).
    pub id: Option<String>,
    /// Whether the table may lack columns that `target` and `exclude` name, as one of several tables may. Then
    /// [`TableNote::Absent`](crate::TableNote::Absent) reports it.
    pub allows_absent: bool,
    /// Classes to keep, in any order; empty keeps all. See [`RawTable::select`](crate::RawTable::select).
    pub classes: Vec<String>,
    /// Maximum number of rows; `None` keeps all. See [`RawTable::select`](crate::RawTable::select).
    pub limit: Option<usize>,
}

named!(
    Header {
        Auto: "auto",
        Yes: "yes",
        No: "no",
    },
    "header",
    "`auto`, `yes` or `no`",
    DataError
);

named!(
    Missing {
        Error: "error",
        Mean: "mean",
    },
    "missing",
    "`error` or `mean`",
    DataError
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_print_and_parse() {
        for header in Header::ALL {
            assert_eq!(header.to_string().parse::<Header>().unwrap(), header);
            assert_eq!(serde_json::to_value(header).unwrap(), header.name());
        }
        for missing in Missing::ALL {
            assert_eq!(missing.to_string().parse::<Missing>().unwrap(), missing);
            assert_eq!(serde_json::to_value(missing).unwrap(), missing.name());
        }
        assert_eq!(
            "maybe".parse::<Header>().unwrap_err().to_string(),
            "header: found \"maybe\", expected `auto`, `yes` or `no`"
        );
        assert_eq!(
            "median".parse::<Missing>().unwrap_err().to_string(),
            "missing: found \"median\", expected `error` or `mean`"
        );
    }
}
