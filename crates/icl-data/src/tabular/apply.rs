//! Application of a schema to a table: its columns become features.

use std::collections::HashMap;
use std::path::Path;

use super::column::{ColumnKind, TableColumn};
use super::dataset::{TableCounts, TabularDataset};
use super::error::TablesError;
use super::place::ColumnList;
use super::schema::TableSchema;
use super::table::{RawColumn, RawTable, RawValues};
use crate::error::DataError;
use crate::place::{FileRef, Found};

/// Largest number of values of a data set: 2^28, or 1 GiB.
const MAX_VALUES: usize = 1 << 28;

impl TableSchema {
    /// Makes the features of all rows of a table, whose columns are found by their names.
    ///
    /// Missing numbers become the mean of the old data, and their indicator 1 if there is one. A
    /// category that the old data do not have becomes zeros. Both are counted in
    /// [`TabularDataset::counts`].
    ///
    /// # Errors
    /// [`DataError::TooMany`] values (more than 2^28), and [`DataError::Tables`] with
    /// - [`TablesError::Columns`] if columns are missing or surplus;
    /// - [`TablesError::ColumnType`] if a column of numbers holds text.
    pub fn apply(&self, table: &RawTable) -> Result<TabularDataset, DataError> {
        self.check_columns(table)?;
        let (n, d) = (table.n_rows(), self.d_features());
        if n.saturating_mul(d) > MAX_VALUES {
            return Err(DataError::TooMany {
                file: FileRef::on_disk(Path::new(table.name())),
                what: "values",
                found: n.saturating_mul(d),
                limit: MAX_VALUES,
            });
        }
        let mut values = vec![0.0_f32; n * d];
        let mut counts = TableCounts {
            n_rows: n,
            n_class: table.n_class(),
            n_imputed: 0,
            n_clipped: 0,
            unseen: Vec::new(),
        };
        for column in &self.columns {
            let Some(raw) = table.column(&column.name) else {
                continue;
            };
            if !column.features.is_empty() {
                self.fill(table.name(), column, raw, &mut values, &mut counts)?;
            }
        }
        Ok(TabularDataset::from_parts(
            table,
            self.clone(),
            values,
            counts,
        ))
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
            let RawValues::Numbers(numbers) = &raw.values else {
                return Err(TablesError::ColumnType {
                    data: Found::new(data),
                    column: Found::new(&column.name),
                    found: "text",
                    expected: "numbers",
                }
                .into());
            };
            let mean = self.statistics[first].mean as f32;
            for (row, &value) in rows.zip(numbers) {
                row[first] = if value.is_nan() { mean } else { value };
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
            match raw.values.text(index) {
                None => {
                    counts.n_imputed += 1;
                    if let Some(indicator) = indicator {
                        row[indicator] = 1.0;
                    }
                }
                Some(text) => match features.get(&*text) {
                    Some(&feature) => row[feature] = 1.0,
                    None => n_unseen += 1,
                },
            }
        }
        if n_unseen > 0 {
            counts.unseen.push((column.name.clone(), n_unseen));
        }
        Ok(())
    }

    fn check_columns(&self, table: &RawTable) -> Result<(), TablesError> {
        let is_known = |name: &str| self.columns.iter().any(|column| column.name == name);
        let is_missing = |column: &&TableColumn| {
            column.kind != ColumnKind::Excluded && table.column(&column.name).is_none()
        };
        let missing = self.columns.iter().filter(is_missing);
        let missing: Vec<String> = missing.map(|column| column.name.clone()).collect();
        let surplus: Vec<String> = table
            .columns
            .iter()
            .filter(|column| !is_known(&column.name))
            .map(|column| column.name.clone())
            .collect();
        if missing.is_empty() && surplus.is_empty() {
            return Ok(());
        }
        Err(TablesError::Columns {
            data: Found::new(table.name()),
            expected: Found::new(&self.name),
            missing: ColumnList::new(&missing),
            surplus: ColumnList::new(&surplus),
        })
    }
}
