//! What is to be learned: samples, how views and batches are made of them, and what is new.

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
    /// Which samples are old and which are new.
    pub(crate) increment: &'a Increment,
}

impl<S, V, C> Clone for Problem<'_, S, V, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, V, C> Copy for Problem<'_, S, V, C> {}

impl<S: Samples, V, C> Problem<'_, S, V, C> {
    /// Checks that the data set has all samples of the increment.
    pub(crate) fn check(&self) -> Result<(), TrainError> {
        let n_samples = self.samples.n_samples();
        let all = self.increment.all();
        match all.into_iter().find(|&index| index >= n_samples) {
            Some(index) => Err(TrainError::MissingSample { index, n_samples }),
            None => Ok(()),
        }
    }
}
