//! Tables.

use std::borrow::Cow;

use icl_core::{GrowthRatio, Increment, SampleError, Samples, Seed};
use icl_data::{Outliers, RawTable, Split, StreamKey, TableRow, TableSchema, TabularDataset};

use super::class_numbers::numbers_of_classes;
use super::{DataSet, followed, no_keys, tell_outliers};
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// A table as it was read, and its rows as features.
#[derive(Debug)]
pub struct Table {
    /// The table as it was read.
    pub raw: RawTable,
    /// Its rows as features.
    pub rows: TabularDataset,
    /// Treatment of values outside the range of the encoder's data.
    pub outliers: Outliers,
}

impl Table {
    /// Returns the rows of a table by the statistics of a schema, and reports what was replaced.
    ///
    /// # Errors
    /// If columns are missing or of another kind, or values lie outside the range where that is to be an error.
    pub fn with(raw: RawTable, schema: &TableSchema, outliers: Outliers) -> Result<Self, Failure> {
        let rows = schema.apply(&raw).map_err(Failure::input)?;
        let (clipped, found) = rows.clipped();
        let rows = match tell_outliers(rows.name(), outliers, &found)? {
            true => clipped,
            false => rows,
        };
        let counts = rows.counts();
        if counts.n_imputed > 0 {
            tell(format_args!(
                "note: {}: {} missing values were replaced",
                rows.name(),
                counts.n_imputed
            ));
        }
        for (column, n) in &counts.unseen {
            tell(format_args!(
                "note: {}, column {column}: {n} values are categories that the old data do not have",
                rows.name()
            ));
        }
        for column in &counts.surplus {
            tell(format_args!(
                "note: {}: column {column} is left out, since the encoder's data do not have it",
                rows.name()
            ));
        }
        Ok(Self {
            raw,
            rows,
            outliers,
        })
    }

    /// Returns the rows of both tables, which `raw` holds, with the features of the schema of `old`.
    fn of_both(old: &Self, new: &Self, raw: RawTable) -> Result<Self, Failure> {
        let outliers = old.outliers;
        // A stream would make the features of all rows again at each increment.
        if old.rows.schema() == new.rows.schema() {
            let rows = old.rows.append(&new.rows, &raw);
            return Ok(Self {
                raw,
                rows,
                outliers,
            });
        }
        let rows = old.rows.schema().apply(&raw).map_err(Failure::input)?;
        let rows = match outliers {
            Outliers::Keep => rows,
            // Those of either part have been reported.
            Outliers::Clip | Outliers::Error => rows.clipped().0,
        };
        Ok(Self {
            raw,
            rows,
            outliers,
        })
    }
}

impl Samples for Table {
    type Sample = TableRow;

    fn n_samples(&self) -> usize {
        self.rows.n_samples()
    }

    fn sample(&self, index: usize) -> Result<Cow<'_, TableRow>, SampleError> {
        self.rows.sample(index)
    }
}

impl DataSet for Table {
    const SAMPLES: &'static str = "rows";

    fn name(&self) -> &str {
        self.rows.name()
    }

    fn has_labels(&self) -> bool {
        self.rows.has_labels()
    }

    fn labels(&self) -> Vec<usize> {
        self.rows.labels().to_vec()
    }

    fn original_labels(&self) -> Vec<i64> {
        numbers_of_classes(self.rows.class_names(), self.rows.labels())
    }

    fn increment(
        &self,
        split: &Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, Failure> {
        if let Split::Column(name) = split {
            tell_order(&self.raw, name);
        }
        let increment = self.raw.increment(split.clone(), alpha, seed);
        increment.map_err(Failure::input)
    }

    fn stream_keys(&self, key: &StreamKey) -> Result<Vec<usize>, Failure> {
        match key {
            StreamKey::Nothing => Ok(vec![0; self.raw.n_rows()]),
            StreamKey::Class if self.raw.has_labels() => Ok(self.labels()),
            StreamKey::Column(name) => {
                tell_order(&self.raw, name);
                self.raw.ranks(name).map_err(Failure::input)
            }
            StreamKey::Class | StreamKey::Size => Err(no_keys(self, key)),
        }
    }

    /// Joins the tables, with the features of the schema of `old`.
    fn join(&self, new: &Self) -> Result<(Self, Increment), Failure> {
        let (raw, increment) = RawTable::join(&self.raw, &new.raw).map_err(Failure::input)?;
        Ok((Table::of_both(self, new, raw)?, increment))
    }

    fn append(&self, new: &Self) -> Result<(Self, [Vec<usize>; 2]), Failure> {
        let raw = self.raw.append(&new.raw).map_err(Failure::input)?;
        let parts = followed(self.rows.n_rows(), raw.n_rows());
        Ok((Table::of_both(self, new, raw)?, parts))
    }

    fn n_clipped(&self) -> usize {
        self.rows.counts().n_clipped
    }

    fn n_equal(&self, increment: &Increment) -> Result<usize, Failure> {
        Ok(self.rows.n_equal(increment))
    }

    fn checksum(&self) -> String {
        self.rows.checksum()
    }
}

/// Reports that a column orders the rows as text: it may be meant as dates or numbers in a form that is not recognised.
pub fn tell_order(raw: &RawTable, column: &str) {
    if raw.is_ordered_as_text(column) {
        tell(format_args!(
            "note: {}, column {column}: rows are ordered by its text, character by character",
            raw.name()
        ));
    }
}
