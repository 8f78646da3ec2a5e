//! The affine map of least squares with a penalty, of full or of low rank.

use nalgebra::{DMatrix, DVector, RowDVector, SymmetricEigen};

use super::procrustes::not_converged;
use crate::EvalError;

/// Penalties from which one is chosen.
const RIDGES: [f64; 8] = [1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0];
/// Number of rows of which one is kept from the fit, to choose the penalty.
const ONE_OF: usize = 10;

/// Share of the squares of equal rows that rounding may leave when their mean is subtracted.
const ROUNDING: f64 = 1e-26;

/// Weights and offset of a map, with its penalty.
pub(super) struct Affine {
    pub(super) weights: DMatrix<f64>,
    pub(super) offset: Vec<f64>,
    pub(super) ridge: f64,
}

/// Fits an affine map of rank at most `rank`:
///
/// ```text
/// min over W, b of ‖A·W + 1·bᵀ − B‖² + λ·‖W‖²      λ = ridge · mean square of a column of A − mean(A), times n
/// ```
///
/// If `ridge` is `None`, it is chosen from 8 values from 10⁻⁸ to 1: the one whose map, fitted without every tenth row,
/// is nearest to these rows. The map is then fitted to all rows. A lower rank projects the fit onto the directions of
/// the new rows in which it varies most, the eigenvectors of Wᵀ(AᵀA + λ·1)W = WᵀAᵀB (reduced-rank ridge regression,
/// Mukherjee and Zhu, 2011).
///
/// # Errors
/// [`EvalError`] if all old rows are equal.
pub(super) fn affine(
    old: &DMatrix<f64>,
    new: &DMatrix<f64>,
    rank: usize,
    ridge: Option<f64>,
) -> Result<Affine, EvalError> {
    let ridge = match ridge {
        Some(ridge) => ridge,
        None => chosen(old, new, rank)?,
    };
    let (weights, offset) = Moments::of(old, new)?.fit(rank, ridge)?;
    Ok(Affine {
        weights,
        offset: offset.iter().copied().collect(),
        ridge,
    })
}

/// Returns the penalty whose map is nearest to rows that it was not fitted to.
fn chosen(old: &DMatrix<f64>, new: &DMatrix<f64>, rank: usize) -> Result<f64, EvalError> {
    let is_kept = |row: &usize| row.is_multiple_of(ONE_OF);
    let (kept, fitted): (Vec<usize>, Vec<usize>) = (0..old.nrows()).partition(is_kept);
    let part = |of: &DMatrix<f64>, rows: &[usize]| of.select_rows(rows);
    let moments = Moments::of(&part(old, &fitted), &part(new, &fitted))?;
    let (kept_old, kept_new) = (part(old, &kept), part(new, &kept));
    let mut best = (f64::INFINITY, RIDGES[0]);
    for ridge in RIDGES {
        let (weights, offset) = moments.fit(rank, ridge)?;
        let mut error = &kept_old * weights - &kept_new;
        for mut row in error.row_iter_mut() {
            row += &offset;
        }
        let error = error.norm_squared();
        if error < best.0 {
            best = (error, ridge);
        }
    }
    Ok(best.1)
}

/// Means and products of centred rows, from which every map follows.
struct Moments {
    mean_old: RowDVector<f64>,
    mean_new: RowDVector<f64>,
    /// AᵀA of centred rows.
    of_old: DMatrix<f64>,
    /// AᵀB of centred rows.
    of_both: DMatrix<f64>,
}

impl Moments {
    fn of(old: &DMatrix<f64>, new: &DMatrix<f64>) -> Result<Self, EvalError> {
        let (mean_old, mean_new) = (old.row_mean(), new.row_mean());
        let centred = |of: &DMatrix<f64>, mean: &RowDVector<f64>| {
            let mut of = of.clone();
            for mut row in of.row_iter_mut() {
                row -= mean;
            }
            of
        };
        let size = old.norm_squared();
        let (old, new) = (centred(old, &mean_old), centred(new, &mean_new));
        let of_old = old.tr_mul(&old);
        match of_old.trace() > ROUNDING * size {
            true => Ok(Self {
                of_both: old.tr_mul(&new),
                of_old,
                mean_old,
                mean_new,
            }),
            false => Err(EvalError::new(
                "rows",
                "old ones that are all equal",
                "at least two different ones",
            )),
        }
    }

    /// Returns weights and offset of the map of this rank and penalty.
    fn fit(&self, rank: usize, ridge: f64) -> Result<(DMatrix<f64>, RowDVector<f64>), EvalError> {
        let d = self.of_old.nrows();
        let penalty = ridge * self.of_old.trace() / d as f64;
        let penalised = &self.of_old + DMatrix::from_diagonal(&DVector::repeat(d, penalty));
        let factor = penalised.cholesky().ok_or_else(not_converged)?;
        let mut weights = factor.solve(&self.of_both);
        if rank < weights.nrows().min(weights.ncols()) {
            let varied = weights.tr_mul(&self.of_both);
            // Symmetric but for rounding; the solver reads one triangle only, which is here the mean of both.
            let eigen = SymmetricEigen::new((&varied + varied.transpose()) * 0.5);
            let mut order: Vec<usize> = (0..eigen.eigenvalues.len()).collect();
            order.sort_by(|a, b| eigen.eigenvalues[*b].total_cmp(&eigen.eigenvalues[*a]));
            let kept = eigen.eigenvectors.select_columns(&order[..rank]);
            weights = &weights * &kept * kept.transpose();
        }
        let offset = &self.mean_new - &self.mean_old * &weights;
        Ok((weights, offset))
    }
}
