//! A fitted map of embeddings.

use nalgebra::{DMatrix, RowDVector};

use crate::{EvalError, Matrix};

/// Map from old to new embeddings.
///
/// ```text
/// x ↦ x·W + b                          W [d_old, d_new], b [d_new]
/// x ↦ x·W + b + tanh(x·W₁ + b₁)·W₂     with a hidden layer
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
    hidden: Option<HiddenLayer>,
}

/// The residual part of a map: `x ↦ tanh(x·W₁ + b₁)·W₂`, with W₁ `[d_old, d_hidden]`, b₁ `[d_hidden]` and W₂
/// `[d_hidden, d_new]`.
#[derive(Debug, Clone, PartialEq)]
pub struct HiddenLayer {
    /// W₁, row by row.
    weights: Vec<f64>,
    offset: Vec<f64>,
    /// W₂, row by row.
    output: Vec<f64>,
}

impl HiddenLayer {
    /// Creates the layer of W₁ `[d_old, d_hidden]`, row by row, b₁ `[d_hidden]` and W₂ `[d_hidden, d_new]`, row by
    /// row, such as a file holds.
    ///
    /// # Panics
    /// If b₁ is empty, or W₁ or W₂ is empty or its length no multiple of that of b₁.
    pub fn from_parts(weights: Vec<f64>, offset: Vec<f64>, output: Vec<f64>) -> Self {
        let d_hidden = offset.len();
        for of in [&weights, &output] {
            assert!(
                d_hidden > 0 && !of.is_empty() && of.len().is_multiple_of(d_hidden),
                "found {} weights and a hidden layer of {d_hidden}, expected a multiple of its width",
                of.len()
            );
        }
        Self {
            weights,
            offset,
            output,
        }
    }

    pub(super) fn of(
        weights: &DMatrix<f64>,
        offset: &RowDVector<f64>,
        output: &DMatrix<f64>,
    ) -> Self {
        Self {
            weights: by_rows(weights),
            offset: offset.as_slice().to_vec(),
            output: by_rows(output),
        }
    }

    /// Returns the number of units, d_hidden.
    pub fn d_hidden(&self) -> usize {
        self.offset.len()
    }

    /// Returns W₁ `[d_old, d_hidden]`, row by row.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Returns b₁ `[d_hidden]`.
    pub fn offset(&self) -> &[f64] {
        &self.offset
    }

    /// Returns W₂ `[d_hidden, d_new]`, row by row.
    pub fn output(&self) -> &[f64] {
        &self.output
    }

    fn apply(&self, old: &DMatrix<f64>) -> DMatrix<f64> {
        let d_hidden = self.d_hidden();
        let mut hidden = affine(old, &self.weights, &self.offset);
        hidden.apply(|x| *x = x.tanh());
        hidden * DMatrix::from_row_slice(d_hidden, self.output.len() / d_hidden, &self.output)
    }
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
            hidden: None,
        }
    }

    pub(super) fn of(weights: &DMatrix<f64>, offset: Vec<f64>, ridge: Option<f64>) -> Self {
        Self {
            weights: by_rows(weights),
            offset,
            ridge,
            hidden: None,
        }
    }

    /// Adds a hidden layer.
    ///
    /// # Panics
    /// If its widths are not those of the map.
    pub fn with_hidden(self, hidden: HiddenLayer) -> Self {
        let lengths = [hidden.weights.len(), hidden.output.len()];
        let expected = [self.d_old(), self.d_new()].map(|d| d * hidden.d_hidden());
        assert_eq!(
            lengths, expected,
            "weights of the hidden layer (left) must fit the widths of the map (right)"
        );
        Self {
            hidden: Some(hidden),
            ..self
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

    /// Returns the hidden layer; none for an orthogonal and for an affine map.
    pub fn hidden(&self) -> Option<&HiddenLayer> {
        self.hidden.as_ref()
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
        let old = matrix(old);
        let mut mapped = affine(&old, &self.weights, &self.offset);
        if let Some(hidden) = &self.hidden {
            mapped += hidden.apply(&old);
        }
        let values = by_rows(&mapped);
        Ok(Matrix::try_new(values, self.d_new()).expect("mapped rows of moderate size are finite"))
    }
}

/// Returns `rows·W + 1·b`, with W row by row.
fn affine(rows: &DMatrix<f64>, weights: &[f64], offset: &[f64]) -> DMatrix<f64> {
    let mut found = rows * DMatrix::from_row_slice(rows.ncols(), offset.len(), weights);
    let offset = RowDVector::from_row_slice(offset);
    found.row_iter_mut().for_each(|mut row| row += &offset);
    found
}

/// Returns the entries row by row: the columns of the transpose.
fn by_rows(of: &DMatrix<f64>) -> Vec<f64> {
    of.transpose().as_slice().to_vec()
}

/// Returns rows as a matrix of nalgebra.
pub(super) fn matrix(of: &Matrix) -> DMatrix<f64> {
    DMatrix::from_row_slice(of.n_rows(), of.n_columns(), of.values())
}
