//! What is to be learned: samples, how views and batches are made of them, and what is new.

use icl_core::{Increment, Samples};

use crate::TrainError;

/// A data set with its views, its collation and its increment.
#[derive(Debug)]
pub struct Problem<'a, S, V, C> {
    /// The data set.
    pub samples: &'a S,
    /// How views are made.
    pub views: &'a V,
    /// How views become batches.
    pub collate: &'a C,
    /// Which samples are old and which are new.
    pub increment: &'a Increment,
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
        match self
            .increment
            .all()
            .into_iter()
            .find(|&index| index >= n_samples)
        {
            Some(index) => Err(TrainError::MissingSample { index, n_samples }),
            None => Ok(()),
        }
    }
}
