//! Directions of rows, and the order of their neighbours.

use std::cmp::Ordering;

use crate::Matrix;

/// The rows of a matrix, scaled to length 1. Rows of zeros remain zero.
pub(crate) struct Directions {
    values: Vec<f64>,
    width: usize,
}

impl Directions {
    /// Returns the directions of the rows of a matrix `[n, d]`.
    pub(crate) fn of(matrix: &Matrix) -> Self {
        let mut values = matrix.values().to_vec();
        let width = matrix.n_columns();
        for row in values.chunks_exact_mut(width) {
            // Divided by the largest first, so that no square overflows or underflows.
            let largest = row
                .iter()
                .fold(0.0_f64, |most, value| most.max(value.abs()));
            if largest > 0.0 {
                row.iter_mut().for_each(|value| *value /= largest);
            }
            let length = row.iter().map(|value| value * value).sum::<f64>().sqrt();
            if length > 0.0 {
                row.iter_mut().for_each(|value| *value /= length);
            }
        }
        Self { values, width }
    }

    /// Returns one row.
    pub(crate) fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.width..][..self.width]
    }

    /// Iterates over all rows, in order.
    pub(crate) fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.width)
    }

    /// Returns all values, row after row.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }
}

/// A sample with its similarity to another one.
pub(crate) type Neighbour = (f64, usize);

/// Creates a neighbour from its similarity and its index.
pub(crate) fn neighbour(similarity: f64, index: usize) -> Neighbour {
    // Plus 0, because the total order of f64 distinguishes −0 from 0.
    (similarity + 0.0, index)
}

/// Orders neighbours by descending similarity, and those of equal similarity by index.
pub(crate) fn nearest_first((a, first): &Neighbour, (b, second): &Neighbour) -> Ordering {
    b.total_cmp(a).then(first.cmp(second))
}
