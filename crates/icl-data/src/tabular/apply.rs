//! Application of a schema to a table: its columns become features.

use std::collections::HashMap;
use std::iter;
use std::path::Path;
use std::sync::Arc;

use super::column::{ColumnKind, TableColumn};
use super::dataset::{TableCounts, TabularDataset};
use super::error::check_n_values;
use super::raw_column::{RawColumn, Value};
use super::schema::TableSchema;
use super::statistics::FeatureStatistics;
use super::table::RawTable;
use super::values::{is_word, number};
use crate::error::DataError;
use crate::place::{FileRef, Found, listed};

impl TableSchema {
    /// Makes the features of all rows of a table, whose columns are found by their names. Columns without features need
    /// not be there. Those that the schema does not have are left out, and listed in [`TabularDataset::counts`] unless
    /// they [number the rows](RawTable::index_columns).
    ///
    /// Missing numbers become the mean of the old data, and their indicator 1 if there is one. A
    /// category that the old data do not have becomes zeros. Both are counted in
    /// [`TabularDataset::counts`].
    ///
    /// # Errors
    /// [`DataError`]
    /// - if there are more than 2^28 values;
    /// - if columns are missing;
    /// - if a column of numbers holds text.
    pub fn apply(&self, table: &RawTable) -> Result<TabularDataset, DataError> {
        self.check_columns(table)?;
        let (n, d) = (table.n_rows(), self.d_features());
        let file = FileRef::on_disk(Path::new(table.name()));
        check_n_values(file, n.saturating_mul(d))?;
        let mut all: Arc<[f32]> = iter::repeat_n(0.0, n * d).collect();
        let values = Arc::make_mut(&mut all);
        let mut counts = TableCounts {
            n_rows: n,
            n_class: table.n_class(),
            n_imputed: 0,
            n_clipped: 0,
            unseen: Vec::new(),
            surplus: self.surplus(table),
        };
        for column in &self.columns {
            let Some(raw) = table.column(&column.name) else {
                continue;
            };
            if !column.features.is_empty() {
                self.fill(table.name(), column, raw, values, &mut counts)?;
            }
        }
        Ok(TabularDataset::from_parts(table, self.clone(), all, counts))
    }

    /// Fills the features of one column.
    fn fill(
        &self,
        data: &str,
        column: &TableColumn,
        raw: &RawColumn,
        values: &mut [f32],
        counts: &mut TableCounts,
    ) -> Result<(), DataError> {
        let rows = values.chunks_exact_mut(self.d_features());
        let first = column.features.start;
        let indicator = column.has_indicator.then(|| column.features.end - 1);
        if column.kind != ColumnKind::Categorical {
            raw.check_numbers(data)?;
            let FeatureStatistics { mean, offset, .. } = self.statistics[first];
            for (index, row) in rows.enumerate() {
                let value = raw.number(index, offset);
                row[first] = if value.is_nan() { mean as f32 } else { value };
                if value.is_nan() {
                    counts.n_imputed += 1;
                    if let Some(indicator) = indicator {
                        row[indicator] = 1.0;
                    }
                }
            }
            return Ok(());
        }
        let names = column.categories.iter().zip(first..);
        let features: HashMap<&str, usize> = names.map(|(name, at)| (&**name, at)).collect();
        let mut n_unseen = 0;
        for (index, row) in rows.enumerate() {
            match category(raw, index, &features) {
                Category::Known(feature) => row[feature] = 1.0,
                Category::Unseen => n_unseen += 1,
                Category::Missing => {
                    counts.n_imputed += 1;
                    if let Some(indicator) = indicator {
                        row[indicator] = 1.0;
                    }
                }
            }
        }
        if n_unseen > 0 {
            counts.unseen.push((column.name.clone(), n_unseen));
        }
        Ok(())
    }

    /// Returns the names of the columns that the schema does not have.
    fn surplus(&self, table: &RawTable) -> Vec<String> {
        let is_known = |name: &str| self.columns.iter().any(|column| column.name == name);
        table
            .features()
            .filter(|column| !column.is_index && !is_known(&column.name))
            .map(|column| column.name.clone())
            .collect()
    }

    fn check_columns(&self, table: &RawTable) -> Result<(), DataError> {
        let is_missing = |column: &&TableColumn| {
            !column.features.is_empty() && table.column(&column.name).is_none()
        };
        let missing = self.columns.iter().filter(is_missing);
        let missing: Vec<String> = missing.map(|column| column.name.clone()).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let surplus = match &self.surplus(table)[..] {
            [] => "none".to_owned(),
            names => listed(names),
        };
        Err(DataError::new(
            Found::new(table.name()),
            format!(
                "other columns (missing: {}; surplus: {surplus})",
                listed(&missing)
            ),
            format!("those of {}", Found::new(&self.name)),
        ))
    }
}

/// Meaning of a value among categories.
enum Category {
    /// Feature of a category.
    Known(usize),
    Unseen,
    Missing,
}

/// Returns the meaning of a value in a column whose categories have these features.
fn category(column: &RawColumn, row: usize, features: &HashMap<&str, usize>) -> Category {
    let text = &*column.fields.trimmed(row);
    if let Some(&feature) = features.get(text) {
        return Category::Known(feature);
    }
    // Schemas of earlier versions have numbers in their shortest form as categories, and no words such as `NA`: those
    // were missing values.
    let shortest = number(text).and_then(|value| features.get(&*(value as f32).to_string()));
    match (shortest, column.value(row)) {
        (Some(&feature), _) => Category::Known(feature),
        (None, Value::Missing) => Category::Missing,
        (None, _) if is_word(text) => Category::Missing,
        (None, _) => Category::Unseen,
    }
}
