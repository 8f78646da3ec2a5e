//! Columns and statistics of the old data, by which every table becomes features.

use std::collections::BTreeSet;

use burn::serde::{Deserialize, Serialize};

use super::classes::number_classes;
use super::column::{ColumnKind, TableColumn};
use super::error::TablesError;
use super::statistics::FeatureStatistics;
use super::stored_schema::{StoredSchema, UnfitSchema};
use super::table::{MISSING_CODE, RawColumn, RawTable, RawValues};
use crate::error::DataError;
use crate::outliers::ordinary_range;
use crate::place::Found;

/// Largest number of categories of a column.
const MAX_CATEGORIES: usize = 256;
/// Skewness above which numbers of at least 0 count as skewed.
const MIN_SKEWNESS: f64 = 2.0;

/// Columns of a table and the statistics of their features, frozen from the old data.
///
/// New data become features by the same schema: categories that the old data do not have are counted
/// and become zeros, and nothing is fitted again, so that an encoder keeps its meaning.
///
/// ```
/// use icl_data::{ColumnKind, TableSchema, embedded};
///
/// let digits = embedded::tables("digits-table")?;
/// let old: Vec<usize> = (0..1000).collect();
/// let schema = TableSchema::fit(&digits, &old, &[])?;
/// assert_eq!(schema.columns()[0].kind, ColumnKind::Constant);
/// let data = schema.apply(&digits)?;
/// assert_eq!((data.n_rows(), data.d_features()), (1797, schema.d_features()));
/// # Ok::<(), icl_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(crate = "burn::serde", try_from = "StoredSchema")]
pub struct TableSchema {
    pub(super) name: String,
    pub(super) columns: Vec<TableColumn>,
    pub(super) statistics: Vec<FeatureStatistics>,
}

impl TryFrom<StoredSchema> for TableSchema {
    type Error = UnfitSchema;

    fn try_from(stored: StoredSchema) -> Result<Self, UnfitSchema> {
        stored.check()?;
        let StoredSchema {
            name,
            columns,
            statistics,
        } = stored;
        Ok(Self {
            name,
            columns,
            statistics,
        })
    }
}

impl TableSchema {
    /// Fits the schema to some rows of a table: the old data.
    ///
    /// Columns whose names are in `excluded` become no features; names that the table does not have
    /// are ignored.
    ///
    /// # Errors
    /// [`DataError::Tables`] with
    /// - [`TablesError::Categories`] if a column has more than 256 different texts in these rows;
    /// - [`TablesError::NoFeatures`] if every column is constant or excluded.
    ///
    /// # Panics
    /// If an index is not below the number of rows.
    pub fn fit(table: &RawTable, old: &[usize], excluded: &[&str]) -> Result<Self, DataError> {
        let mut schema = Self {
            name: table.name().to_owned(),
            columns: Vec::with_capacity(table.columns.len()),
            statistics: Vec::new(),
        };
        for column in table.columns.iter() {
            let is_excluded = excluded.contains(&&*column.name);
            schema.add(column, old, is_excluded)?;
        }
        if schema.statistics.is_empty() {
            return Err(TablesError::NoFeatures {
                data: Found::new(table.name()),
            }
            .into());
        }
        Ok(schema)
    }

    fn add(&mut self, column: &RawColumn, old: &[usize], excluded: bool) -> Result<(), DataError> {
        let first = self.statistics.len();
        let (kind, categories, has_indicator) = match &column.values {
            _ if excluded => (ColumnKind::Excluded, Vec::new(), false),
            RawValues::Numbers(values) => self.add_numbers(values, old),
            RawValues::Texts { codes, texts } => {
                let seen: BTreeSet<u32> = old.iter().map(|&row| codes[row]).collect();
                let has_missing = seen.contains(&MISSING_CODE);
                let names: Vec<String> = seen
                    .iter()
                    .filter_map(|&code| texts.get(code as usize).cloned())
                    .collect();
                if names.len() > MAX_CATEGORIES {
                    return Err(TablesError::Categories {
                        data: Found::new(&self.name),
                        column: Found::new(&column.name),
                        found: names.len(),
                        limit: MAX_CATEGORIES,
                    }
                    .into());
                }
                if seen.len() < 2 {
                    (ColumnKind::Constant, Vec::new(), false)
                } else {
                    let categories = number_classes(&[], names).1;
                    let in_row = |row: usize| texts.get(codes[row] as usize);
                    for category in &categories {
                        let is_in = |&row: &usize| f32::from(in_row(row) == Some(category));
                        let features = old.iter().map(is_in);
                        self.statistics.push(FeatureStatistics::of(features));
                    }
                    if has_missing {
                        let is_missing = |&row: &usize| f32::from(codes[row] == MISSING_CODE);
                        let features = old.iter().map(is_missing);
                        self.statistics.push(FeatureStatistics::of(features));
                    }
                    (ColumnKind::Categorical, categories, has_missing)
                }
            }
        };
        self.columns.push(TableColumn {
            name: column.name.clone(),
            kind,
            categories,
            has_indicator,
            features: first..self.statistics.len(),
        });
        Ok(())
    }

    fn add_numbers(&mut self, values: &[f32], old: &[usize]) -> (ColumnKind, Vec<String>, bool) {
        let all = old.iter().map(|&row| values[row]);
        let known = all.clone().filter(|value| !value.is_nan());
        if known.clone().next().is_none() {
            return (ColumnKind::Constant, Vec::new(), false);
        }
        // A sentinel such as −99999 would decide mean and deviation alone.
        let [low, high] = ordinary_range(known.clone().map(f64::from).collect());
        let known = known.filter(|value| (low..=high).contains(&f64::from(*value)));
        let mut others = known.clone();
        let first = others.next();
        let second = others.find(|value| Some(*value) != first);
        if second.is_none() {
            return (ColumnKind::Constant, Vec::new(), false);
        }
        let statistics = FeatureStatistics::of(known.clone());
        let is_one_of_two = |value: f32| Some(value) == first || Some(value) == second;
        let kind = if known.clone().all(is_one_of_two) {
            ColumnKind::Binary
        } else if statistics.min >= 0.0 && statistics.skewness > MIN_SKEWNESS {
            ColumnKind::Skewed
        } else {
            ColumnKind::Continuous
        };
        self.statistics.push(statistics);
        let has_missing = all.clone().any(f32::is_nan);
        if has_missing {
            let indicator = all.map(|value| f32::from(value.is_nan()));
            self.statistics.push(FeatureStatistics::of(indicator));
        }
        (kind, Vec::new(), has_missing)
    }

    /// Returns the name of the table to which the schema was fitted.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the columns of the table without the target, those that are dropped included.
    pub fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    /// Returns the statistics of each feature over the old data.
    pub fn statistics(&self) -> &[FeatureStatistics] {
        &self.statistics
    }

    /// Returns the number of features, at least 1.
    pub fn d_features(&self) -> usize {
        self.statistics.len()
    }

    /// Returns the names of the columns that are dropped because they are constant in the old data.
    pub fn constant(&self) -> Vec<&str> {
        let columns = self.columns.iter();
        columns
            .filter(|column| column.kind == ColumnKind::Constant)
            .map(|column| &*column.name)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded;

    #[test]
    fn a_schema_is_read_as_it_was_written_and_no_other() {
        let digits = embedded::tables("digits-table").unwrap();
        let old: Vec<usize> = (0..300).collect();
        let schema = TableSchema::fit(&digits, &old, &[]).unwrap();
        let stored = serde_json::to_value(&schema).unwrap();
        let read = serde_json::from_value::<TableSchema>;
        assert_eq!(read(stored.clone()).unwrap(), schema);
        for (path, value, message) in [
            (
                "/columns/1/features/end",
                serde_json::json!(7),
                "found features 0..7 of column \"2\", expected 0..1",
            ),
            (
                "/statistics/3/sd",
                serde_json::json!(0.0),
                "expected finite numbers, the deviation above 0",
            ),
            (
                "/statistics",
                serde_json::json!([]),
                "found statistics of 0 features",
            ),
            (
                "/columns",
                serde_json::json!([]),
                "found no feature, expected at least one",
            ),
        ] {
            let mut damaged = stored.clone();
            *damaged.pointer_mut(path).unwrap() = value;
            let error = read(damaged).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
