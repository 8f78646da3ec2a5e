//! A fitted map of embeddings.

use nalgebra::{DMatrix, DVector};

use crate::{EvalError, Matrix};

/// Map from old to new embeddings.
///
/// ```text
/// x ↦ x·W + b        W [d_old, d_new], b [d_new]
/// ```
///
/// ```
/// use icl_eval::{AlignmentForm, AlignmentSettings, Matrix};
///
/// // The new encoder turns every embedding by a right angle.
/// let old = Matrix::try_new(vec![1.0, 0.0, 0.5, 2.0, -1.0, 1.0], 2)?;
/// let new = Matrix::try_new(vec![0.0, 1.0, -2.0, 0.5, -1.0, -1.0], 2)?;
/// let map = AlignmentSettings::new(AlignmentForm::Procrustes).fit(&old, &new)?;
/// let mapped = map.apply(&Matrix::try_new(vec![3.0, 1.0], 2)?)?;
/// assert!((mapped.row(0)[0] + 1.0).abs() < 1e-12);
/// assert!((mapped.row(0)[1] - 3.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AlignmentMap {
    /// Weights W `[d_old, d_new]`, row by row.
    weights: Vec<f64>,
    /// Offset b `[d_new]`.
    offset: Vec<f64>,
    /// Penalty of an affine map, relative to the mean square of a column.
    ridge: Option<f64>,
}

impl AlignmentMap {
    /// Creates a map of weights W `[d_old, d_new]`, row by row, and an offset b `[d_new]`, such as a file holds.
    ///
    /// # Panics
    /// If the offset is empty or the weights do not fill whole rows, at least one.
    pub fn from_parts(weights: Vec<f64>, offset: Vec<f64>) -> Self {
        assert!(
            !offset.is_empty() && !weights.is_empty() && weights.len().is_multiple_of(offset.len()),
            "found {} weights and an offset of {}, expected whole rows of that width",
            weights.len(),
            offset.len()
        );
        Self {
            weights,
            offset,
            ridge: None,
        }
    }

    pub(super) fn of(weights: &DMatrix<f64>, offset: Vec<f64>, ridge: Option<f64>) -> Self {
        // Columns of the transpose are the rows.
        Self {
            weights: weights.transpose().as_slice().to_vec(),
            offset,
            ridge,
        }
    }

    /// Returns the width of the rows that it takes, d_old.
    pub fn d_old(&self) -> usize {
        self.weights.len() / self.offset.len()
    }

    /// Returns the width of the rows that it returns, d_new.
    pub fn d_new(&self) -> usize {
        self.offset.len()
    }

    /// Returns the weights W `[d_old, d_new]`, row by row.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Returns the offset b `[d_new]`.
    pub fn offset(&self) -> &[f64] {
        &self.offset
    }

    /// Returns the penalty of an affine map, given or chosen; none for an orthogonal one, and for one created from its parts.
    pub fn ridge(&self) -> Option<f64> {
        self.ridge
    }

    /// Maps old embeddings `[n, d_old]` to `[n, d_new]`.
    ///
    /// # Errors
    /// [`EvalError`] if their width is not d_old.
    ///
    /// # Panics
    /// If a mapped value is not finite, for values next to the largest of a double.
    pub fn apply(&self, old: &Matrix) -> Result<Matrix, EvalError> {
        let (width, expected) = (old.n_columns(), self.d_old());
        let found = format_args!("rows of width {width}");
        EvalError::unless(width == expected, "map", found, expected)?;
        let weights = DMatrix::from_row_slice(self.d_old(), self.d_new(), &self.weights);
        let mut mapped = matrix(old) * weights;
        let offset = DVector::from_column_slice(&self.offset).transpose();
        for mut row in mapped.row_iter_mut() {
            row += &offset;
        }
        let values = mapped.transpose().as_slice().to_vec();
        Ok(Matrix::try_new(values, self.d_new()).expect("mapped rows of moderate size are finite"))
    }
}

/// Returns rows as a matrix of nalgebra.
pub(super) fn matrix(of: &Matrix) -> DMatrix<f64> {
    DMatrix::from_row_slice(of.n_rows(), of.n_columns(), of.values())
}
