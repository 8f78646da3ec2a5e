//! Where rows point to, whatever their length.

use crate::Matrix;

/// Rows of length 1, or of zeros.
pub(crate) struct Directions {
    values: Vec<f64>,
    width: usize,
}

impl Directions {
    /// The directions of the rows of a matrix `[n, d]`.
    pub(crate) fn of(matrix: &Matrix) -> Self {
        let mut values = matrix.values().to_vec();
        let width = matrix.n_columns();
        for row in values.chunks_exact_mut(width) {
            // Divided by the largest first, so that no square over- or underflows.
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

    /// One row.
    pub(crate) fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.width..][..self.width]
    }

    /// All rows, in their order.
    pub(crate) fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.width)
    }

    /// All values, row after row.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }
}
