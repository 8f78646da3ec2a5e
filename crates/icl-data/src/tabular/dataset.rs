//! A data set of rows of features.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use icl_core::{SampleError, Samples};

use super::schema::TableSchema;
use super::table::RawTable;

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
    /// Number of values that [`TabularDataset::clipped`] has clipped.
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
/// Its [`Samples`] are the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct TabularDataset {
    name: String,
    /// `[n_rows, d_features]`, row by row.
    pub(super) values: Arc<[f32]>,
    labels: Arc<[usize]>,
    class_names: Arc<[String]>,
    has_labels: bool,
    schema: Arc<TableSchema>,
    pub(super) counts: TableCounts,
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
        values: Vec<f32>,
        counts: TableCounts,
    ) -> Self {
        debug_assert_eq!(values.len(), table.n_rows() * schema.d_features());
        Self {
            name: table.name.clone(),
            values: values.into(),
            labels: table.labels.clone(),
            class_names: table.class_names.clone(),
            has_labels: table.has_labels(),
            schema: schema.into(),
            counts,
        }
    }

    /// Appends the rows of a table that has the same schema, without making the features of any row again; `table`
    /// holds the rows of both, as [`RawTable::append`] returns it.
    ///
    /// # Panics
    /// If the schemas differ, or `table` has other rows.
    #[must_use]
    pub fn append(&self, new: &Self, table: &RawTable) -> Self {
        assert_eq!(self.schema, new.schema, "rows of one schema");
        assert_eq!(table.n_rows(), self.n_rows() + new.n_rows(), "rows of both");
        let mut unseen = self.counts.unseen.clone();
        for (column, n) in &new.counts.unseen {
            match unseen.iter_mut().find(|(known, _)| known == column) {
                Some((_, sum)) => *sum += n,
                None => unseen.push((column.clone(), *n)),
            }
        }
        let mut surplus = self.counts.surplus.clone();
        let is_another = |column: &&String| !self.counts.surplus.contains(column);
        surplus.extend(new.counts.surplus.iter().filter(is_another).cloned());
        Self {
            name: table.name.clone(),
            values: self.values.iter().chain(&*new.values).copied().collect(),
            labels: table.labels.clone(),
            class_names: table.class_names.clone(),
            has_labels: table.has_labels(),
            schema: self.schema.clone(),
            counts: TableCounts {
                n_rows: table.n_rows(),
                n_class: table.n_class(),
                n_imputed: self.counts.n_imputed + new.counts.n_imputed,
                n_clipped: self.counts.n_clipped + new.counts.n_clipped,
                unseen,
                surplus,
            },
        }
    }

    /// Returns the name of the data set, from its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of rows.
    pub fn n_rows(&self) -> usize {
        self.labels.len()
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
        self.has_labels
    }

    /// Returns the class of each row, as an index into [`class_names`](Self::class_names); all 0 if
    /// the rows have no classes.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// Returns the name of each class, see [`RawTable::class_names`].
    pub fn class_names(&self) -> &[String] {
        &self.class_names
    }

    /// Returns the columns and the statistics of the old data.
    pub fn schema(&self) -> &TableSchema {
        &self.schema
    }

    /// Returns the counts of the rows and of the values that were replaced.
    pub fn counts(&self) -> &TableCounts {
        &self.counts
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
        for &label in self.labels.iter() {
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
