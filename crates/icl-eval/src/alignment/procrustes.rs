//! The orthogonal map that is nearest to a change of embeddings.

use nalgebra::{DMatrix, SVD, SymmetricEigen};

use crate::{EvalError, EvalErrorKind};

/// Number of sweeps after which a decomposition is given up.
const MAX_SWEEPS: usize = 10_000;
/// Share of the largest singular value of rows up to which a direction holds nothing but the rounding of single
/// precision.
const ROUNDING: f64 = 1e-6;

/// Returns the orthogonal R that minimises ‖A·R − B‖ (Schönemann, 1966):
///
/// ```text
/// AᵀB = U·Σ·Vᵀ,  R = U·Vᵀ
/// ```
///
/// R is unique only if AᵀB has full rank. A decomposition completes U and V in any case, by arbitrary directions.
///
/// # Errors
/// [`EvalErrorKind::Invalid`] if the rows or AᵀB do not have full rank, [`EvalErrorKind::NotConverged`] if the
/// singular values are not found.
pub(super) fn orthogonal(
    old: &DMatrix<f64>,
    new: &DMatrix<f64>,
) -> Result<DMatrix<f64>, EvalError> {
    let largest =
        largest_singular_value("old rows", old)? * largest_singular_value("new rows", new)?;
    let product = old.tr_mul(new);
    let svd =
        SVD::try_new(product, true, true, f64::EPSILON, MAX_SWEEPS).ok_or_else(not_converged)?;
    let (Some(u), Some(v_t)) = (svd.u, svd.v_t) else {
        return Err(not_converged());
    };
    // Also rows that each have full rank can leave a direction open: where what the old ones do in it and what the new
    // ones do are not correlated at all.
    let values = svd.singular_values.iter();
    let rank = values
        .filter(|it| **it > ROUNDING * ROUNDING * largest)
        .count();
    check_rank("AᵀB of old rows A and new rows B", rank, old.ncols())?;
    Ok(u * v_t)
}

/// Returns the largest singular value of rows of full rank.
fn largest_singular_value(name: &'static str, rows: &DMatrix<f64>) -> Result<f64, EvalError> {
    let width = rows.ncols();
    let largest = rows.amax();
    if largest == 0.0 {
        check_rank(name, 0, width)?;
    }
    // Squares of very long and very short rows leave the range of a double.
    let scaled = rows / largest;
    let squares = SymmetricEigen::try_new(scaled.tr_mul(&scaled), f64::EPSILON, MAX_SWEEPS)
        .ok_or_else(not_converged)?
        .eigenvalues;
    let most = squares.max();
    let rank = squares
        .iter()
        .filter(|it| **it > ROUNDING.powi(2) * most)
        .count();
    check_rank(name, rank, width)?;
    Ok(largest * most.sqrt())
}

fn check_rank(rows: &'static str, rank: usize, width: usize) -> Result<(), EvalError> {
    let found = format_args!("{rows} of rank {rank}");
    let expected =
        format_args!("{width}, as many directions as columns (an affine map takes fewer)");
    EvalError::unless(rank == width, "procrustes", found, expected)
}

/// Returns the error of a decomposition that did not converge.
pub(super) fn not_converged() -> EvalError {
    EvalError::new(
        "singular values",
        "no convergence",
        "finite rows of moderate size",
    )
    .with_kind(EvalErrorKind::NotConverged)
}
