//! The settings of a map, and its fit.

use icl_core::Seed;
use serde::{Deserialize, Serialize};

use super::affine::affine;
use super::map::{AlignmentMap, matrix};
use super::procrustes::orthogonal;
use super::residual::{parts, residual};
use crate::{EvalError, Matrix};

/// Form of a map. It is serialised by its name in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlignmentForm {
    /// Rotation, with a reflection where it fits better: orthogonal weights and no offset (Schönemann, 1966). It keeps
    /// all similarities between old rows.
    Procrustes,
    /// Weights and an offset by least squares with a penalty, of full or of low rank.
    Affine,
    /// An affine map and one hidden layer that is fitted to what it leaves (the residual MLP of Vejendla, 2025).
    ResidualMlp,
}

/// Width of the hidden layer unless one is set.
const D_HIDDEN: usize = 64;
/// Largest width of the hidden layer. The time of a fit and its memory grow with it.
const MAX_HIDDEN: usize = 4096;

/// Settings of a map from old to new embeddings.
#[derive(Debug, Clone, PartialEq)]
pub struct AlignmentSettings {
    form: AlignmentForm,
    rank: Option<usize>,
    ridge: Option<f64>,
    d_hidden: usize,
    seed: Seed,
}

impl AlignmentSettings {
    /// Returns the settings of a form: full rank, a penalty that is chosen on rows kept from the fit, and 64 hidden
    /// units, drawn by seed 0.
    pub fn new(form: AlignmentForm) -> Self {
        Self {
            form,
            rank: None,
            ridge: None,
            d_hidden: D_HIDDEN,
            seed: Seed::new(0),
        }
    }

    /// Returns the form.
    pub fn form(&self) -> AlignmentForm {
        self.form
    }

    /// Sets the form and keeps all else.
    pub fn with_form(self, form: AlignmentForm) -> Self {
        Self { form, ..self }
    }

    /// Sets the largest rank of an affine map, alone or under a hidden layer, or none for full rank.
    pub fn with_rank(self, rank: Option<usize>) -> Self {
        Self { rank, ..self }
    }

    /// Sets the penalty of an affine map, in units of the mean square of a centred old column times the number of rows,
    /// or none to choose it from 10⁻⁸ to 1 on every tenth row.
    pub fn with_ridge(self, ridge: Option<f64>) -> Self {
        Self { ridge, ..self }
    }

    /// Sets the number of hidden units of a residual MLP, or none for 64.
    pub fn with_hidden(self, d_hidden: Option<usize>) -> Self {
        let d_hidden = d_hidden.unwrap_or(D_HIDDEN);
        Self { d_hidden, ..self }
    }

    /// Sets the seed by which the hidden weights of a residual MLP are drawn.
    pub fn with_seed(self, seed: Seed) -> Self {
        Self { seed, ..self }
    }

    /// Fits a map from old to new embeddings, of which row i is the same sample. The rows are used as they are:
    /// normalise them before, if only their directions count.
    ///
    /// An orthogonal map R minimises ‖A·R − B‖: with AᵀB = U·Σ·Vᵀ, R = U·Vᵀ. An affine map minimises ‖A·W + 1·bᵀ −
    /// B‖² + λ·‖W‖². A residual MLP adds tanh(A·W₁ + 1·b₁ᵀ)·W₂ to that, fitted to nine tenths of the rows, to what an
    /// affine map of these leaves, until the other tenth comes no nearer, for at most 100 iterations with each of two
    /// penalties: its time grows with the rows, the widths and the hidden units, its memory with the rows times the
    /// hidden units.
    ///
    /// # Errors
    /// - [`EvalErrorKind::Invalid`](crate::EvalErrorKind::Invalid) if the numbers of rows differ; for an orthogonal
    ///   map if the widths differ, there are fewer rows than columns, or the rows, old or new, span fewer directions
    ///   (equal rows one, zeros none); for an affine map if there are fewer than two rows (three to choose a
    ///   penalty), all old rows are equal, or the rank or the penalty is out of range; the same for a residual MLP, or
    ///   if its number of hidden units is not from 1 to 4096;
    /// - [`EvalErrorKind::NotConverged`](crate::EvalErrorKind::NotConverged) if a decomposition fails.
    pub fn fit(&self, old: &Matrix, new: &Matrix) -> Result<AlignmentMap, EvalError> {
        let (n_rows, n_new) = (old.n_rows(), new.n_rows());
        let found = format_args!("{n_rows} old and {n_new} new ones");
        EvalError::unless(n_rows == n_new, "rows", found, "as many of both")?;
        let (d_old, d_new) = (old.n_columns(), new.n_columns());
        match self.form {
            AlignmentForm::Procrustes => {
                let found = format_args!("widths {d_old} and {d_new}");
                let expected = "equal ones (an affine map takes any)";
                EvalError::unless(d_old == d_new, "procrustes", found, expected)?;
                let found = format_args!("{n_rows} rows");
                let expected = format_args!(
                    "at least {d_old}, one for each column (an affine map takes fewer)"
                );
                EvalError::unless(n_rows >= d_old, "procrustes", found, expected)?;
                let weights = orthogonal(&matrix(old), &matrix(new))?;
                Ok(AlignmentMap::of(&weights, vec![0.0; d_new], None))
            }
            AlignmentForm::Affine => self.fit_affine(old, new),
            AlignmentForm::ResidualMlp => {
                let is_width = (1..=MAX_HIDDEN).contains(&self.d_hidden);
                let expected = format_args!("a number from 1 to {MAX_HIDDEN}");
                EvalError::unless(is_width, "hidden", self.d_hidden, expected)?;
                let map = self.fit_affine(old, new)?;
                // By a map without the rows that end the fit of the layer: a map is nearer to rows that it was fitted
                // to than to others, so that the layer would seem to gain nothing on them.
                let (_, seen) = parts(n_rows);
                let straight = self.clone().with_ridge(map.ridge());
                let straight = straight.fit_affine(&old.select(&seen), &new.select(&seen))?;
                let left = matrix(new) - matrix(&straight.apply(old)?);
                let hidden = residual(&matrix(old), &left, self.d_hidden, self.seed)?;
                Ok(map.with_hidden(hidden))
            }
        }
    }

    fn fit_affine(&self, old: &Matrix, new: &Matrix) -> Result<AlignmentMap, EvalError> {
        let (n_rows, d_old, d_new) = (old.n_rows(), old.n_columns(), new.n_columns());
        let fewest = if self.ridge.is_some() { 2 } else { 3 };
        let (found, expected) = (format!("{n_rows} rows"), format!("at least {fewest}"));
        EvalError::unless(n_rows >= fewest, "affine", found, expected)?;
        let largest = d_old.min(d_new);
        let rank = self.rank.unwrap_or(largest);
        let expected = format_args!("a number from 1 to {largest}");
        EvalError::unless((1..=largest).contains(&rank), "rank", rank, expected)?;
        if let Some(ridge) = self.ridge {
            let is_penalty = ridge.is_finite() && ridge > 0.0;
            EvalError::unless(is_penalty, "ridge", ridge, "a finite number above 0")?;
        }
        let fitted = affine(&matrix(old), &matrix(new), rank, self.ridge)?;
        Ok(AlignmentMap::of(
            &fitted.weights,
            fitted.offset,
            Some(fitted.ridge),
        ))
    }
}
