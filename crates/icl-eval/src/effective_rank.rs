//! The effective rank of embeddings.

use nalgebra::DMatrix;

use crate::matrix::Matrix;

/// Computes the effective rank of a matrix of embeddings, RankMe (Garrido et al., 2023): the exponential of the
/// entropy of its singular values, normalised to sum 1.
///
/// ```text
/// p_k = σ_k/Σ_j σ_j        rank = exp(−Σ_k p_k·ln p_k)        σ_1, …, σ_min(n, d) of the matrix as it is, not centred
/// ```
///
/// It is 1 if all rows are multiples of one vector and min(n, d) if all singular values are equal, and does not depend on
/// the scale; 0 for a matrix of zeros. It grows with the number of rows: compare sets of one size, and runs of one
/// method. Deviation: the paper adds 1e-7 to p_k so that its logarithm exists; here 0·ln 0 is 0.
///
/// Time is that of a QR decomposition of the longer side, n·d·min(n, d), and of a singular value decomposition of the
/// shorter.
///
/// ```
/// use icl_eval::{Matrix, effective_rank};
///
/// let axes = Matrix::try_new(vec![2.0, 0.0, 0.0, -2.0, 0.0, 0.0], 2)?;
/// assert!((effective_rank(&axes) - 2.0).abs() < 1e-12);
/// # Ok::<(), icl_eval::EvalError>(())
/// ```
pub fn effective_rank(embeddings: &Matrix) -> f64 {
    let (n, d) = (embeddings.n_rows(), embeddings.n_columns());
    if n == 0 {
        return 0.0;
    }
    // Columns are samples. The squares of a Gram matrix would lose the small singular values.
    let columns = DMatrix::from_column_slice(d, n, embeddings.values());
    let tall = if n > d { columns.transpose() } else { columns };
    let values = tall.qr().unpack_r().singular_values();
    let sum = values.sum();
    if sum == 0.0 {
        return 0.0;
    }
    let term = |value: &f64| {
        let p = value / sum;
        if p > 0.0 { -p * p.ln() } else { 0.0 }
    };
    values.iter().map(term).sum::<f64>().exp()
}
