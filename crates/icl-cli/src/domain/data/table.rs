//! Tables.

use icl_core::{GrowthRatio, Increment, Seed};
use icl_data::{RawTable, Split, TabularDataset};

use super::{DataSet, followed, numbers_of_classes};
use crate::process::failure::Failure;
use crate::process::terminal::tell;

impl DataSet for TabularDataset {
    const SAMPLES: &'static str = "rows";

    fn name(&self) -> &str {
        self.name()
    }

    fn has_labels(&self) -> bool {
        self.has_labels()
    }

    fn labels(&self) -> Vec<usize> {
        self.labels().to_vec()
    }

    fn original_labels(&self) -> Vec<i64> {
        numbers_of_classes(self.class_names(), self.labels())
    }

    fn increment(
        &self,
        split: &Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, Failure> {
        if let Split::Column(name) = split {
            tell_order(self.raw(), name);
        }
        let increment = self.raw().increment(split.clone(), alpha, seed);
        increment.map_err(Failure::input)
    }

    fn column_keys(&self, name: &str) -> Result<Option<Vec<usize>>, Failure> {
        tell_order(self.raw(), name);
        self.raw().ranks(name).map(Some).map_err(Failure::input)
    }

    fn join(&self, new: &Self) -> Result<(Self, Increment), Failure> {
        TabularDataset::join(self, new).map_err(Failure::input)
    }

    fn append(&self, new: &Self) -> Result<(Self, [Vec<usize>; 2]), Failure> {
        let joined = self.append(new).map_err(Failure::input)?;
        let parts = followed(self.n_rows(), joined.n_rows());
        Ok((joined, parts))
    }

    fn n_clipped(&self) -> usize {
        self.counts().n_clipped
    }

    fn n_equal(&self, increment: &Increment) -> Result<usize, Failure> {
        Ok(self.n_equal(increment))
    }

    fn checksum(&self) -> String {
        self.checksum()
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
