//! The orthogonal map that is nearest to a change of embeddings.

use nalgebra::{DMatrix, SVD};

use super::error::AlignmentError;

/// Number of sweeps after which a decomposition is given up.
const MAX_SWEEPS: usize = 10_000;

/// Returns the orthogonal R that minimises ‖A·R − B‖ (Schönemann, 1966):
///
/// ```text
/// AᵀB = U·Σ·Vᵀ,  R = U·Vᵀ
/// ```
///
/// # Errors
/// [`AlignmentError::NotConverged`] if the singular values are not found.
pub(super) fn orthogonal(
    old: &DMatrix<f64>,
    new: &DMatrix<f64>,
) -> Result<DMatrix<f64>, AlignmentError> {
    let product = old.tr_mul(new);
    let svd = SVD::try_new(product, true, true, f64::EPSILON, MAX_SWEEPS);
    let (u, v_t) = svd
        .and_then(|svd| svd.u.zip(svd.v_t))
        .ok_or(AlignmentError::NotConverged)?;
    Ok(u * v_t)
}
