//! What is to be learned: samples, how views and batches are made of them, and what is new.

use icl_core::{Increment, Samples, Views};

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

impl<S: Samples, V: Views<Sample = S::Sample>, C> Problem<'_, S, V, C> {
    /// The number of samples of X′.
    pub fn n_samples(&self) -> usize {
        self.increment.old().len() + self.increment.new_data().len()
    }
}
