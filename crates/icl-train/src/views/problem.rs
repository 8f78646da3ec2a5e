//! A training problem: samples, their views and batches, and the split into old and new data.

use icl_core::{Increment, Samples};

use crate::error::TrainError;

/// A data set with its views, its collation and its increment.
#[derive(Debug)]
pub(crate) struct Problem<'a, S, V, C> {
    /// The data set.
    pub(crate) samples: &'a S,
    /// The views.
    pub(crate) views: &'a V,
    /// The collation of views into batches.
    pub(crate) collate: &'a C,
    /// Indices of the old and of the new samples.
    pub(crate) increment: &'a Increment,
}

impl<S, V, C> Clone for Problem<'_, S, V, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, V, C> Copy for Problem<'_, S, V, C> {}

impl<S: Samples, V, C> Problem<'_, S, V, C> {
    /// Checks that the data set contains every sample of the increment.
    ///
    /// # Errors
    /// [`TrainError::MissingSample`] for the first index that is out of range.
    pub(crate) fn check(&self) -> Result<(), TrainError> {
        let n_samples = self.samples.n_samples();
        let all = self.increment.all();
        match all.into_iter().find(|&index| index >= n_samples) {
            Some(index) => Err(TrainError::MissingSample {
                argument: "the increment",
                index,
                n_samples,
            }),
            None => Ok(()),
        }
    }

    /// Returns the name and value of each fact that identifies the data: their number, and a checksum
    /// of the increment.
    pub(crate) fn facts(&self) -> [(&'static str, String); 2] {
        let mut increment = crc32fast::Hasher::new();
        for part in [self.increment.old(), self.increment.new_data()] {
            increment.update(&(part.len() as u64).to_le_bytes());
            for &index in part {
                increment.update(&(index as u64).to_le_bytes());
            }
        }
        let n_samples = self.samples.n_samples();
        [
            ("number of samples", n_samples.to_string()),
            ("increment", format!("{:08x}", increment.finalize())),
        ]
    }
}
