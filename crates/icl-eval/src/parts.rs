//! One quantity for all data, for the old part and for the new part.

use icl_core::Increment;
use serde::{Deserialize, Serialize};

use crate::Matrix;

/// A quantity of X′, of X and of ΔX, each measured on that part alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Parts<T> {
    /// On X′ = X ∪ ΔX.
    pub all: T,
    /// On the old data X.
    pub old: T,
    /// On the new data ΔX.
    pub new: T,
}

impl<T> Parts<T> {
    /// Measures the three parts of an increment; `measure` gets the rows of each.
    pub(crate) fn try_measure<E>(
        increment: &Increment,
        mut measure: impl FnMut(&[usize]) -> Result<T, E>,
    ) -> Result<Self, E> {
        Ok(Self {
            all: measure(&increment.all())?,
            old: measure(increment.old())?,
            new: measure(increment.new_data())?,
        })
    }
}

/// The labels of these rows.
pub(crate) fn labels_of(labels: &[usize], rows: &[usize]) -> Vec<usize> {
    rows.iter().map(|&row| labels[row]).collect()
}

/// Asserts that every sample has a label.
#[track_caller]
pub(crate) fn assert_labelled(matrix: &Matrix, labels: &[usize]) {
    assert_eq!(
        matrix.n_rows(),
        labels.len(),
        "expected one label for each row of the matrix (left), found as many as on the right"
    );
}
