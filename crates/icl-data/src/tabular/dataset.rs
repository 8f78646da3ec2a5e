//! A data set of rows of features.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use icl_core::{SampleError, Samples};

use super::column::ColumnKind;
use super::schema::TableSchema;
use super::table::RawTable;
use crate::outliers::Limits;

/// Counts of the rows of a table and of the values that were replaced.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableCounts {
    /// Number of rows.
    pub n_rows: usize,
    /// Number of rows of each class.
    pub n_class: Vec<usize>,
    /// Number of missing values: numbers that became the mean of the old data, and categories that
    /// became zeros.
    pub n_imputed: usize,
    /// Number of values that [`TabularDataset::within_range`] has clipped.
    pub n_clipped: usize,
    /// Columns with categories that the old data do not have, each with the number of such values.
    /// They became zeros.
    pub unseen: Vec<(String, usize)>,
    /// Columns that the old data do not have. They were left out.
    pub surplus: Vec<String>,
}

/// A row of a table: its features, in the units of the file, minus the [offset](crate::FeatureStatistics::offset) where
/// there is one.
///
/// Rows are standardised by their views, because geometric mixing acts on the values themselves.
/// Clones share the values of the data set, so that cloning is cheap.
#[derive(Debug, Clone)]
pub struct TableRow {
    values: Arc<[f32]>,
    start: usize,
    d_features: usize,
}

/// A data set of the rows of a table, whose columns became features by a [`TableSchema`].
///
/// Its [`Samples`] are the rows. It keeps the table as it was read, whose columns clones share, so that other features
/// can be made of it when the schema changes.
#[derive(Debug, Clone, PartialEq)]
pub struct TabularDataset {
    raw: RawTable,
    /// `[n_rows, d_features]`, row by row.
    values: Arc<[f32]>,
    schema: Arc<TableSchema>,
    counts: TableCounts,
}

impl TableCounts {
    /// Adds the counts of rows that are appended; `n_class` are the numbers of rows of the classes of both.
    pub(super) fn add(&mut self, new: &Self, n_class: Vec<usize>) {
        self.n_rows += new.n_rows;
        self.n_class = n_class;
        self.n_imputed += new.n_imputed;
        self.n_clipped += new.n_clipped;
        for (column, n) in &new.unseen {
            match self.unseen.iter_mut().find(|(known, _)| known == column) {
                Some((_, sum)) => *sum += n,
                None => self.unseen.push((column.clone(), *n)),
            }
        }
        for column in &new.surplus {
            if !self.surplus.contains(column) {
                self.surplus.push(column.clone());
            }
        }
    }
}

impl TableRow {
    /// Creates a row of these features.
    pub fn new(values: Vec<f32>) -> Self {
        Self {
            start: 0,
            d_features: values.len(),
            values: values.into(),
        }
    }
}

impl Deref for TableRow {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.values[self.start..self.start + self.d_features]
    }
}

impl AsRef<[f32]> for TableRow {
    fn as_ref(&self) -> &[f32] {
        self
    }
}

impl PartialEq for TableRow {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl TabularDataset {
    /// Creates a data set of the rows of `table`, whose features are `values`.
    pub(super) fn from_parts(
        table: &RawTable,
        schema: TableSchema,
        values: Arc<[f32]>,
        counts: TableCounts,
    ) -> Self {
        debug_assert_eq!(values.len(), table.n_rows() * schema.d_features());
        Self {
            raw: table.clone(),
            values,
            schema: schema.into(),
            counts,
        }
    }

    /// Returns a data set of other rows of the same schema.
    pub(super) fn with(&self, raw: RawTable, values: Arc<[f32]>, counts: TableCounts) -> Self {
        Self {
            raw,
            values,
            schema: self.schema.clone(),
            counts,
        }
    }

    /// Moves the values of some features to the nearest of their ranges, and counts them: `n` lie outside.
    pub(super) fn clipped(mut self, ranges: &[(usize, Limits)], n: usize) -> Self {
        let d_features = self.d_features();
        // They are copied only if another data set shares them.
        for row in Arc::make_mut(&mut self.values).chunks_exact_mut(d_features) {
            for (feature, limits) in ranges {
                if let Some(nearest) = limits.nearest(row[*feature].into()) {
                    row[*feature] = nearest as f32;
                }
            }
        }
        self.counts.n_clipped += n;
        self
    }

    /// Returns the table as it was read.
    pub fn raw(&self) -> &RawTable {
        &self.raw
    }

    /// Returns the name of the data set, from its file.
    pub fn name(&self) -> &str {
        self.raw.name()
    }

    /// Returns the number of rows.
    pub fn n_rows(&self) -> usize {
        self.raw.n_rows()
    }

    /// Returns the number of features of a row.
    pub fn d_features(&self) -> usize {
        self.schema.d_features()
    }

    /// Returns all features `[n_rows, d_features]`, row by row, in the units of the file.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Returns one row.
    ///
    /// # Panics
    /// If `index` is not below [`n_rows`](Self::n_rows).
    pub fn row(&self, index: usize) -> TableRow {
        assert!(
            index < self.n_rows(),
            "found row {index}, expected one below {}",
            self.n_rows()
        );
        let d_features = self.d_features();
        TableRow {
            values: self.values.clone(),
            start: index * d_features,
            d_features,
        }
    }

    /// Returns `true` if the rows have classes.
    pub fn has_labels(&self) -> bool {
        self.raw.has_labels()
    }

    /// Returns the class of each row, as an index into [`class_names`](Self::class_names); all 0 if
    /// the rows have no classes.
    pub fn labels(&self) -> &[usize] {
        self.raw.labels()
    }

    /// Returns the name of each class, see [`RawTable::class_names`].
    pub fn class_names(&self) -> &[String] {
        self.raw.class_names()
    }

    /// Returns the columns and the statistics of the old data.
    pub fn schema(&self) -> &TableSchema {
        &self.schema
    }

    /// Returns the counts of the rows and of the values that were replaced.
    pub fn counts(&self) -> &TableCounts {
        &self.counts
    }

    /// Returns what was replaced or left out when the features were made, for people to read: sentences without a full
    /// stop that begin with the name of the data set. [`counts`](Self::counts) has the numbers.
    pub fn notes(&self) -> Vec<String> {
        let (name, counts) = (self.name(), &self.counts);
        let mut notes = Vec::new();
        if counts.n_imputed > 0 {
            notes.push(format!(
                "{name}: {} missing values were replaced",
                counts.n_imputed
            ));
        }
        notes.extend(counts.unseen.iter().map(|(column, n)| {
            format!(
                "{name}, column {column}: {n} values are categories that the old data do not have"
            )
        }));
        notes.extend(counts.surplus.iter().map(|column| {
            format!("{name}: column {column} is left out, since the encoder's data do not have it")
        }));
        notes
    }

    /// Returns the [hash of the content](crate::ContentHash) of each row: of its values, as they were read, in the
    /// columns of the schema that do not number the rows.
    pub fn contents(&self) -> Vec<u64> {
        let columns = self.schema.columns().iter();
        let columns = columns.filter(|column| column.kind != ColumnKind::Index);
        self.raw.contents(columns.map(|column| &*column.name))
    }

    /// Returns a checksum that identifies the data when work is resumed: a CRC-32 of the features,
    /// their statistics and the labels, as 8 hexadecimal digits.
    pub fn checksum(&self) -> String {
        let mut sum = crc32fast::Hasher::new();
        for value in self.values.iter() {
            sum.update(&value.to_le_bytes());
        }
        for statistics in self.schema.statistics() {
            sum.update(&statistics.mean.to_le_bytes());
            sum.update(&statistics.sd.to_le_bytes());
            if let Some(offset) = statistics.offset {
                sum.update(&offset.to_le_bytes());
            }
        }
        for &label in self.labels() {
            sum.update(&(label as u64).to_le_bytes());
        }
        format!("{:08x}", sum.finalize())
    }
}

impl Samples for TabularDataset {
    type Sample = TableRow;

    fn n_samples(&self) -> usize {
        self.n_rows()
    }

    fn sample(&self, index: usize) -> Result<Cow<'_, TableRow>, SampleError> {
        Ok(Cow::Owned(self.row(index)))
    }
}
