//! Columns and statistics of the old data, by which every table becomes features.

use std::collections::BTreeSet;

use burn::serde::{Deserialize, Serialize};

use super::classes::number_classes;
use super::column::{ColumnKind, TableColumn};
use super::exact::difference;
use super::raw_column::{Contents, RawColumn, Value};
use super::statistics::FeatureStatistics;
use super::stored_schema::StoredSchema;
use super::table::RawTable;
use crate::error::DataError;
use crate::outliers::ordinary_range;
use crate::place::Found;

/// Largest number of categories of a column.
const MAX_CATEGORIES: usize = 256;
/// Skewness above which numbers of at least 0 count as skewed.
const MIN_SKEWNESS: f64 = 2.0;
/// Quotient of the largest value and of the deviation up to which single precision, with 24 bits, leaves 10 bits of the
/// deviation. A lower bound would change the features of columns that lose nothing.
const MIN_DEVIATION: f64 = (1 << 14) as f64;
/// Bound below which double precision holds all whole numbers.
const MAX_WHOLE: f64 = (1_u64 << 53) as f64;

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
    type Error = DataError;

    fn try_from(stored: StoredSchema) -> Result<Self, DataError> {
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
    /// are ignored. Neither do those that [number the rows](RawTable::index_columns).
    ///
    /// # Errors
    /// [`DataError`]
    /// - if a column has more than 256 different texts in these rows;
    /// - if every column is constant, excluded or numbers the rows.
    ///
    /// # Panics
    /// If an index is not below the number of rows.
    pub fn fit(table: &RawTable, old: &[usize], excluded: &[&str]) -> Result<Self, DataError> {
        let mut schema = Self {
            name: table.name().to_owned(),
            columns: Vec::with_capacity(table.columns.len()),
            statistics: Vec::new(),
        };
        for column in table.features() {
            let is_excluded = excluded.contains(&&*column.name);
            schema.add(column, old, is_excluded)?;
        }
        if schema.statistics.is_empty() {
            return Err(DataError::new(
                Found::new(table.name()),
                "no feature among the columns",
                match table.index_columns().is_empty() {
                    true => "at least one that is not constant",
                    false => "at least one that is neither constant nor numbers the rows",
                },
            ));
        }
        Ok(schema)
    }

    fn add(&mut self, column: &RawColumn, old: &[usize], excluded: bool) -> Result<(), DataError> {
        let first = self.statistics.len();
        let (kind, categories, has_indicator) = match column.contents {
            _ if excluded => (ColumnKind::Excluded, Vec::new(), false),
            _ if column.is_index => (ColumnKind::Index, Vec::new(), false),
            Contents::Numbers => self.add_numbers(column, old),
            Contents::Texts | Contents::Mixed => self.add_texts(column, old)?,
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

    fn add_texts(
        &mut self,
        column: &RawColumn,
        old: &[usize],
    ) -> Result<(ColumnKind, Vec<String>, bool), DataError> {
        let values: Vec<Value<'_>> = old.iter().map(|&row| column.value(row)).collect();
        let texts = values.iter().filter_map(|value| match value {
            Value::Text(text) => Some(&**text),
            Value::Number(_) | Value::Missing => None,
        });
        let names: BTreeSet<&str> = texts.collect();
        if names.len() > MAX_CATEGORIES {
            return Err(DataError::new(
                format!(
                    "{}, column {}",
                    Found::new(&self.name),
                    Found::new(&column.name)
                ),
                format!("{} different texts", names.len()),
                format!(
                    "at most {MAX_CATEGORIES} categories, or numbers (a column can be excluded)"
                ),
            ));
        }
        let has_missing = values.contains(&Value::Missing);
        if names.len() + usize::from(has_missing) < 2 {
            return Ok((ColumnKind::Constant, Vec::new(), false));
        }
        let names = names.into_iter().map(str::to_owned).collect();
        let categories = number_classes(&[], names).1;
        let mut add = |value: Value<'_>| {
            let features = values.iter().map(|other| f32::from(*other == value));
            self.statistics.push(FeatureStatistics::of(features));
        };
        categories
            .iter()
            .for_each(|category| add(Value::Text(category.into())));
        if has_missing {
            add(Value::Missing);
        }
        Ok((ColumnKind::Categorical, categories, has_missing))
    }

    fn add_numbers(
        &mut self,
        column: &RawColumn,
        old: &[usize],
    ) -> (ColumnKind, Vec<String>, bool) {
        let known = old.iter().map(|&row| (row, column.precise(row)));
        let mut known: Vec<(usize, f64)> = known.filter(|(_, number)| !number.is_nan()).collect();
        let has_missing = known.len() < old.len();
        if known.is_empty() {
            return (ColumnKind::Constant, Vec::new(), false);
        }
        // A sentinel such as −99999 would decide mean and deviation alone.
        let [low, high] = ordinary_range(known.iter().map(|(_, number)| *number).collect());
        known.retain(|(_, number)| (low..=high).contains(number));
        let offset = offset(column, &known);
        let known = known.iter().map(|&(row, number)| match offset {
            None => number as f32,
            offset => column.number(row, offset),
        });
        let mut others = known.clone();
        let first = others.next();
        let second = others.find(|value| Some(*value) != first);
        if second.is_none() {
            return (ColumnKind::Constant, Vec::new(), false);
        }
        let statistics = FeatureStatistics {
            offset,
            ..FeatureStatistics::of(known.clone())
        };
        let is_one_of_two = |value: f32| Some(value) == first || Some(value) == second;
        let kind = if known.clone().all(is_one_of_two) {
            ColumnKind::Binary
        } else if offset.is_none() && statistics.min >= 0.0 && statistics.skewness > MIN_SKEWNESS {
            ColumnKind::Skewed
        } else {
            ColumnKind::Continuous
        };
        self.statistics.push(statistics);
        if has_missing {
            let indicator = old
                .iter()
                .map(|&row| f32::from(column.precise(row).is_nan()));
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

    /// Returns the names of the columns that were dropped because they are constant in the old data.
    pub fn constant(&self) -> Vec<&str> {
        self.of_kind(ColumnKind::Constant)
    }

    /// Returns the number of columns of each kind, the number of features, and the names of the columns that are
    /// dropped, for people to read: a sentence without a full stop.
    pub fn note(&self) -> String {
        let mut kinds: Vec<(ColumnKind, usize)> = Vec::new();
        for column in &self.columns {
            match kinds.iter_mut().find(|(kind, _)| *kind == column.kind) {
                Some((_, n)) => *n += 1,
                None => kinds.push((column.kind, 1)),
            }
        }
        let kinds = kinds.iter().map(|(kind, n)| format!("{n} {kind}"));
        let kinds = kinds.collect::<Vec<String>>().join(", ");
        let mut note = format!("columns: {kinds} ({} features)", self.d_features());
        for (kind, why) in [
            (ColumnKind::Constant, "dropped as constant"),
            (ColumnKind::Index, "left out, since they number the rows"),
        ] {
            let names = self.of_kind(kind);
            if !names.is_empty() {
                note += &format!("; {why}: {}", names.join(", "));
            }
        }
        note
    }

    fn of_kind(&self, kind: ColumnKind) -> Vec<&str> {
        let columns = self.columns.iter().filter(|column| column.kind == kind);
        columns.map(|column| &*column.name).collect()
    }
}

/// Returns the number to subtract from a column before its values are held in single precision: the smallest of them,
/// if they differ by so little that their differences would be lost, such as metres from the pole or seconds
/// since 1970. `known` are rows with their numbers.
fn offset(column: &RawColumn, known: &[(usize, f64)]) -> Option<f64> {
    let numbers = || known.iter().map(|(_, number)| *number);
    let is_exact = |number: f64| f64::from(number as f32) == number && number.abs() < MAX_WHOLE;
    if numbers().all(is_exact) {
        return None;
    }
    let least = numbers().fold(f64::INFINITY, f64::min);
    let largest = numbers().fold(0.0, |largest: f64, number| largest.max(number.abs()));
    // Differences of rounded numbers, which need no text, tell this for all columns but those near the bound.
    if deviation(numbers().map(|number| number - least)) * MIN_DEVIATION > 2.0 * largest {
        return None;
    }
    let exact = |row| difference(&column.fields.trimmed(row), least);
    let is_held = |&(row, number): &(usize, f64)| f64::from(number as f32) - least == exact(row);
    let is_lost = !known.iter().all(is_held)
        && deviation(known.iter().map(|(row, _)| exact(*row))) * MIN_DEVIATION < largest;
    is_lost.then_some(least)
}

/// Returns the standard deviation of some numbers.
fn deviation(numbers: impl Iterator<Item = f64>) -> f64 {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for number in numbers {
        n += 1.0;
        sum += number;
        squares += number * number;
    }
    let variance: f64 = (squares - sum * sum / n) / n;
    // Rounding may lead the variance just below 0.
    variance.max(0.0).sqrt()
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
