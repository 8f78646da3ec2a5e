//! A matrix of embeddings or other features, on the host, and the labels of its rows.

use crate::{EvalError, EvalErrorKind};

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
    /// - [`EvalErrorKind::Invalid`] if `n_columns` is 0, or the values do not fill whole rows;
    /// - [`EvalErrorKind::NotFinite`] with the position of the first value that is NaN or infinite.
    pub fn try_new(values: Vec<f64>, n_columns: usize) -> Result<Self, EvalError> {
        EvalError::unless(n_columns > 0, "values", "rows of width 0", "at least 1")?;
        let n = values.len();
        let expected = format_args!("a multiple of the number of columns, {n_columns}");
        EvalError::unless(n.is_multiple_of(n_columns), "values", n, expected)?;
        let Some(at) = values.iter().position(|value| !value.is_finite()) else {
            return Ok(Self { values, n_columns });
        };
        let place = format!("row {}, column {}", at / n_columns, at % n_columns);
        let error = EvalError::new(place, values[at], "a finite number");
        Err(error.with_kind(EvalErrorKind::NotFinite))
    }

    /// Creates a matrix of values in single precision, row after row.
    ///
    /// # Errors
    /// - [`EvalErrorKind::Invalid`] if `n_columns` is 0, or the values do not fill whole rows;
    /// - [`EvalErrorKind::NotFinite`] with the position of the first value that is NaN or infinite.
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
///
/// # Panics
/// If a row is not below the number of labels.
pub fn labels_of(labels: &[usize], rows: &[usize]) -> Vec<usize> {
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

/// Checks that an argument has one value for each row.
///
/// # Errors
/// If it has not.
pub(crate) fn check_count(
    argument: &'static str,
    found: usize,
    matrix: &Matrix,
) -> Result<(), EvalError> {
    let n = matrix.n_rows();
    EvalError::unless(
        found == n,
        argument,
        found,
        format_args!("{n}, one for each row"),
    )
}

/// Checks that an argument refers to rows that exist.
///
/// # Errors
/// For the first that does not.
pub(crate) fn check_rows(
    argument: &'static str,
    rows: &[usize],
    n_rows: usize,
) -> Result<(), EvalError> {
    let Some(index) = rows.iter().find(|&&index| index >= n_rows) else {
        return Ok(());
    };
    let (found, expected) = (format!("row {index}"), format!("an index below {n_rows}"));
    Err(EvalError::new(argument, found, expected))
}

/// Checks that an argument has rows, and that they are as wide as others.
///
/// # Errors
/// If not.
pub(crate) fn check_width(
    argument: &'static str,
    matrix: &Matrix,
    expected: usize,
) -> Result<(), EvalError> {
    let width = matrix.n_columns();
    EvalError::unless(matrix.n_rows() > 0, argument, "no row", "at least 1")?;
    let found = format_args!("rows of width {width}");
    EvalError::unless(width == expected, argument, found, expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_that_is_no_number_is_named() {
        let found = Matrix::try_from_f32(&[0.0, 1.0, 2.0, f32::NEG_INFINITY, f32::NAN, 0.0], 2);
        let error = found.unwrap_err();
        assert_eq!(error.kind(), EvalErrorKind::NotFinite);
        let expected = "row 1, column 1: found -inf, expected a finite number";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn rows_are_whole() {
        let message = |n, n_columns| {
            let error = Matrix::try_new(vec![0.0; n], n_columns).unwrap_err();
            error.to_string()
        };
        assert_eq!(
            message(4, 3),
            "values: found 4, expected a multiple of the number of columns, 3"
        );
        assert_eq!(
            message(4, 0),
            "values: found rows of width 0, expected at least 1"
        );
    }

    #[test]
    fn rows_are_selected_in_order() {
        let matrix = Matrix::try_new(vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 2).unwrap();
        let selected = matrix.select(&[2, 0, 2]);
        assert_eq!(selected.values(), [4.0, 5.0, 0.0, 1.0, 4.0, 5.0]);
        assert_eq!((selected.n_rows(), selected.n_columns()), (3, 2));
    }
}
