//! A matrix of embeddings or other features, on the host.

use crate::EvalError;

/// Samples by features `[n_rows, n_columns]`, row after row, all finite.
///
/// Inside it is f64 whatever the encoder's precision: an SVM's kernel takes differences of squared
/// lengths, and scikit-learn too widens its input first.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    values: Vec<f64>,
    n_columns: usize,
}

impl Matrix {
    /// A matrix of these values, row after row.
    ///
    /// # Errors
    /// [`EvalError::NotFinite`] with the place of the first value that is NaN or infinite.
    ///
    /// # Panics
    /// If `n_columns` is 0 or the values do not fill whole rows.
    pub fn try_new(values: Vec<f64>, n_columns: usize) -> Result<Self, EvalError> {
        assert!(
            n_columns > 0 && values.len().is_multiple_of(n_columns),
            "a matrix with {n_columns} columns cannot hold {} values",
            values.len()
        );
        match values.iter().position(|value| !value.is_finite()) {
            Some(at) => Err(EvalError::NotFinite {
                row: at / n_columns,
                column: at % n_columns,
                found: values[at],
            }),
            None => Ok(Self { values, n_columns }),
        }
    }

    /// As [`try_new`](Self::try_new), from single precision.
    ///
    /// # Errors
    /// [`EvalError::NotFinite`] with the place of the first value that is NaN or infinite.
    ///
    /// # Panics
    /// If `n_columns` is 0 or the values do not fill whole rows.
    pub fn try_from_f32(values: &[f32], n_columns: usize) -> Result<Self, EvalError> {
        Self::try_new(values.iter().copied().map(f64::from).collect(), n_columns)
    }

    /// The number of samples.
    pub fn n_rows(&self) -> usize {
        self.values.len() / self.n_columns
    }

    /// The width of a sample.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// One sample.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.n_columns..][..self.n_columns]
    }

    /// All samples, in their order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.n_columns)
    }

    /// The matrix of these rows, in this order.
    ///
    /// # Panics
    /// If one of the rows does not exist.
    pub fn select(&self, rows: &[usize]) -> Self {
        Self {
            values: rows
                .iter()
                .flat_map(|&row| self.row(row))
                .copied()
                .collect(),
            n_columns: self.n_columns,
        }
    }

    /// All values, row after row.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_that_is_no_number_is_named() {
        let found = Matrix::try_from_f32(&[0.0, 1.0, 2.0, f32::NEG_INFINITY, f32::NAN, 0.0], 2);
        assert_eq!(
            found,
            Err(EvalError::NotFinite {
                row: 1,
                column: 1,
                found: f64::NEG_INFINITY
            })
        );
    }

    #[test]
    #[should_panic(expected = "3 columns cannot hold 4 values")]
    fn rows_are_whole() {
        let _ = Matrix::try_new(vec![0.0; 4], 3);
    }

    #[test]
    fn rows_are_selected_in_order() {
        let matrix = Matrix::try_new(vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 2).unwrap();
        let selected = matrix.select(&[2, 0, 2]);
        assert_eq!(selected.values(), [4.0, 5.0, 0.0, 1.0, 4.0, 5.0]);
        assert_eq!((selected.n_rows(), selected.n_columns()), (3, 2));
    }
}
