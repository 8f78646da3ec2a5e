//! A matrix of embeddings or other features, on the host, and the labels of its rows.

use crate::EvalError;

/// A matrix `[n_rows, n_columns]` of finite numbers on the host: one row for each sample, one column
/// for each feature.
///
/// The entries are f64 independent of the precision of the encoder, because distances are differences of close
/// numbers; scikit-learn also converts its input to f64.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    values: Vec<f64>,
    n_columns: usize,
}

impl Matrix {
    /// Creates a matrix of these values, row after row.
    ///
    /// # Errors
    /// [`EvalError::NotFinite`] with the position of the first value that is NaN or infinite.
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

    /// Creates a matrix of values in single precision, row after row.
    ///
    /// # Errors
    /// [`EvalError::NotFinite`] with the position of the first value that is NaN or infinite.
    ///
    /// # Panics
    /// If `n_columns` is 0 or the values do not fill whole rows.
    pub fn try_from_f32(values: &[f32], n_columns: usize) -> Result<Self, EvalError> {
        Self::try_new(values.iter().copied().map(f64::from).collect(), n_columns)
    }

    /// Returns the number of rows.
    pub fn n_rows(&self) -> usize {
        self.values.len() / self.n_columns
    }

    /// Returns the number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Returns one row.
    ///
    /// # Panics
    /// If `index` is not below the number of rows.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.n_columns..][..self.n_columns]
    }

    /// Iterates over all rows, in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.n_columns)
    }

    /// Returns the matrix of these rows, in this order.
    ///
    /// # Panics
    /// If an index is not below the number of rows.
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

    /// Returns all values, row after row.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }
}

/// Returns the labels of these rows.
pub(crate) fn labels_of(labels: &[usize], rows: &[usize]) -> Vec<usize> {
    rows.iter().map(|&row| labels[row]).collect()
}

/// Returns the classes among the labels, ascending, and the position of each label among them.
pub(crate) fn classes_of(labels: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let mut classes = labels.to_vec();
    classes.sort_unstable();
    classes.dedup();
    let place = |label| classes.partition_point(|class| class < label);
    let places = labels.iter().map(place).collect();
    (classes, places)
}

/// Asserts that every row of a matrix has a label.
#[track_caller]
pub(crate) fn assert_labelled(matrix: &Matrix, labels: &[usize]) {
    assert_eq!(
        matrix.n_rows(),
        labels.len(),
        "there must be one label for each row of the matrix: rows (left), labels (right)"
    );
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
