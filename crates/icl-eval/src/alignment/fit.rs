//! The settings of a map, and its fit.

use serde::{Deserialize, Serialize};

use super::affine::affine;
use super::error::AlignmentError;
use super::map::{AlignmentMap, matrix};
use super::procrustes::orthogonal;
use crate::Matrix;

/// Form of a map. It is serialised by its name in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlignmentForm {
    /// Rotation, with a reflection where it fits better: orthogonal weights and no offset (Schönemann, 1966). It keeps all
    /// similarities between old rows.
    Procrustes,
    /// Weights and an offset by least squares with a penalty, of full or of low rank.
    Affine,
}

/// Settings of a map from old to new embeddings.
#[derive(Debug, Clone, PartialEq)]
pub struct AlignmentSettings {
    form: AlignmentForm,
    rank: Option<usize>,
    ridge: Option<f64>,
}

impl AlignmentSettings {
    /// Returns the settings of a form: full rank, and a penalty that is chosen on rows kept from the fit.
    pub fn new(form: AlignmentForm) -> Self {
        Self {
            form,
            rank: None,
            ridge: None,
        }
    }

    /// Sets the largest rank of an affine map, or none for full rank.
    pub fn with_rank(self, rank: Option<usize>) -> Self {
        Self { rank, ..self }
    }

    /// Sets the penalty of an affine map, in units of the mean square of a centred old column times the number of rows, or
    /// none to choose it from 10⁻⁸ to 1 on every tenth row.
    pub fn with_ridge(self, ridge: Option<f64>) -> Self {
        Self { ridge, ..self }
    }

    /// Fits a map from old to new embeddings, of which row i is the same sample. The rows are used as they are: normalise them
    /// before, if only their directions count.
    ///
    /// An orthogonal map R minimises ‖A·R − B‖: with AᵀB = U·Σ·Vᵀ, R = U·Vᵀ. An affine map minimises
    /// ‖A·W + 1·bᵀ − B‖² + λ·‖W‖².
    ///
    /// # Errors
    /// - [`AlignmentError::Rows`] if the numbers of rows differ;
    /// - [`AlignmentError::Widths`], [`AlignmentError::FewRows`] and [`AlignmentError::Deficient`] if the widths
    ///   differ, there are fewer rows than columns, or the rows, old or new, span fewer directions (equal rows one,
    ///   zeros none), for an orthogonal map;
    /// - [`AlignmentError::TooFew`], [`AlignmentError::NoSpread`], [`AlignmentError::Rank`] and
    ///   [`AlignmentError::Ridge`] if there are fewer than two rows (three to choose a penalty), all old rows are
    ///   equal, or the rank or the penalty is out of range, for an affine map;
    /// - [`AlignmentError::NotConverged`] if a decomposition fails.
    pub fn fit(&self, old: &Matrix, new: &Matrix) -> Result<AlignmentMap, AlignmentError> {
        if old.n_rows() != new.n_rows() {
            return Err(AlignmentError::Rows {
                old: old.n_rows(),
                new: new.n_rows(),
            });
        }
        let n_rows = old.n_rows();
        let (d_old, d_new) = (old.n_columns(), new.n_columns());
        match self.form {
            AlignmentForm::Procrustes => {
                if d_old != d_new {
                    return Err(AlignmentError::Widths {
                        old: d_old,
                        new: d_new,
                    });
                }
                if n_rows < d_old {
                    return Err(AlignmentError::FewRows {
                        n_rows,
                        width: d_old,
                    });
                }
                let weights = orthogonal(&matrix(old), &matrix(new))?;
                Ok(AlignmentMap::of(&weights, vec![0.0; d_new], None))
            }
            AlignmentForm::Affine => {
                let fewest = if self.ridge.is_some() { 2 } else { 3 };
                if n_rows < fewest {
                    return Err(AlignmentError::TooFew { n_rows, fewest });
                }
                let largest = d_old.min(d_new);
                let rank = self.rank.unwrap_or(largest);
                if !(1..=largest).contains(&rank) {
                    return Err(AlignmentError::Rank {
                        found: rank,
                        largest,
                    });
                }
                if let Some(found) = self.ridge.filter(|it| !(it.is_finite() && *it > 0.0)) {
                    return Err(AlignmentError::Ridge { found });
                }
                let fitted = affine(&matrix(old), &matrix(new), rank, self.ridge)?;
                Ok(AlignmentMap::of(
                    &fitted.weights,
                    fitted.offset,
                    Some(fitted.ridge),
                ))
            }
        }
    }
}
