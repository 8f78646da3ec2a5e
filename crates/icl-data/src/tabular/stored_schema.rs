//! A schema as a file has it, before it is checked.

use burn::serde::Deserialize;

use super::column::{ColumnKind, TableColumn};
use super::statistics::FeatureStatistics;
use crate::error::DataError;

/// Parts of a [`TableSchema`](super::schema::TableSchema) that may not fit each other.
#[derive(Debug, Deserialize)]
#[serde(crate = "burn::serde")]
pub(super) struct StoredSchema {
    pub(super) name: String,
    pub(super) columns: Vec<TableColumn>,
    pub(super) statistics: Vec<FeatureStatistics>,
}

impl StoredSchema {
    /// Checks that the features of the columns follow each other, that each has statistics, and that these
    /// are numbers by which values can be divided.
    ///
    /// # Errors
    /// For the first part that does not fit.
    pub(super) fn check(&self) -> Result<(), DataError> {
        let wrong = |found: String, expected: String| Err(DataError::new("", found, expected));
        let mut first = 0;
        for column in &self.columns {
            let n = match column.kind {
                ColumnKind::Constant | ColumnKind::Excluded | ColumnKind::Index => 0,
                ColumnKind::Categorical => {
                    column.categories.len() + usize::from(column.has_indicator)
                }
                ColumnKind::Continuous | ColumnKind::Skewed | ColumnKind::Binary => {
                    1 + usize::from(column.has_indicator)
                }
            };
            let end = first + n;
            if column.features != (first..end) {
                return wrong(
                    format!("features {:?} of column {:?}", column.features, column.name),
                    format!("{first}..{end}"),
                );
            }
            first = end;
        }
        if first == 0 {
            return wrong("no feature".to_owned(), "at least one".to_owned());
        }
        if self.statistics.len() != first {
            return wrong(
                format!("statistics of {} features", self.statistics.len()),
                format!("those of {first}"),
            );
        }
        let is_number = |statistics: &&FeatureStatistics| {
            let numbers = [
                statistics.mean,
                statistics.sd,
                statistics.offset.unwrap_or(0.0),
            ];
            numbers.iter().all(|number| number.is_finite()) && statistics.sd > 0.0
        };
        match self.statistics.iter().position(|of| !is_number(&of)) {
            None => Ok(()),
            Some(feature) => wrong(
                format!(
                    "mean {} and deviation {} of feature {feature}",
                    self.statistics[feature].mean, self.statistics[feature].sd
                ),
                "finite numbers, the deviation above 0".to_owned(),
            ),
        }
    }
}
