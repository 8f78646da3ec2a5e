//! A training problem: samples, their views and batches, and the split into old and new data.

use icl_core::{Increment, Samples};

use crate::error::{TrainError, TrainErrorKind};

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
    /// [`TrainErrorKind::Failed`] for the first index that is out of range.
    pub(crate) fn check(&self) -> Result<(), TrainError> {
        self.check_samples("the increment", &self.increment.all())
    }

    /// Checks that the data set contains every sample of an argument.
    ///
    /// # Errors
    /// [`TrainErrorKind::Failed`] for the first index that is out of range.
    pub(crate) fn check_samples(
        &self,
        argument: &'static str,
        samples: &[usize],
    ) -> Result<(), TrainError> {
        let n = self.samples.n_samples();
        let Some(index) = samples.iter().find(|&&index| index >= n) else {
            return Ok(());
        };
        let (found, expected) = (format!("sample {index}"), format!("an index below {n}"));
        Err(TrainError::new(argument, found, expected).with_kind(TrainErrorKind::Failed))
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
        if self.increment.old_weight() > 1.0 {
            increment.update(&self.increment.old_weight().to_le_bytes());
        }
        let n_samples = self.samples.n_samples();
        [
            ("number of samples", n_samples.to_string()),
            ("increment", format!("{:08x}", increment.finalize())),
        ]
    }
}
