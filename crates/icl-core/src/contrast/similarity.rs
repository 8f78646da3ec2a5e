//! Cosine similarity, the sim(·, ·) of Definition 2.

use burn::tensor::{Tensor, backend::Backend};

#[cfg(feature = "flex")]
use super::unit_rows;

/// Divides each row of `x` `[n, d]` by its Euclidean length.
///
/// A row of zeros has no direction. It stays a row of zeros, so that its similarity to every row is 0,
/// and its gradient is 0. Rows are scaled by their largest element first, so that squaring neither
/// overflows nor underflows.
///
/// On the default CPU backend this is one pass over memory, and its gradient another; elsewhere both are composed of Burn's operations.
pub fn normalize<B: Backend>(x: Tensor<B, 2>) -> Tensor<B, 2> {
    #[cfg(feature = "flex")]
    let x = match unit_rows::in_one_pass(x) {
        Ok(rows) => return rows,
        Err(x) => x,
    };
    composed(x)
}

/// Divides rows by operations of Burn.
fn composed<B: Backend>(x: Tensor<B, 2>) -> Tensor<B, 2> {
    // The direction does not depend on this scale, so it is a constant for the gradient.
    let scale = x.clone().detach().abs().max_dim(1);
    let is_zero = scale.clone().equal_elem(0.0);
    let x = x / scale.mask_fill(is_zero.clone(), 1.0);
    let square = (x.clone() * x.clone()).sum_dim(1);
    // Divided by infinity, a row of zeros stays one and passes no gradient on.
    x / square.mask_fill(is_zero, f32::INFINITY).sqrt()
}

/// Computes the cosine similarity of all pairs of rows: `[n, d]`, `[m, d]` → `[n, m]`.
///
/// ```text
/// sim(a, b) = ⟨a, b⟩ / (‖a‖ ‖b‖) ∈ [−1, 1]
/// ```
///
/// It is 0 if a or b is zero, a case that the paper leaves open (section 4.1.3).
///
/// # Panics
/// If the widths of `a` and `b` differ.
pub fn cosine_similarity<B: Backend>(a: Tensor<B, 2>, b: Tensor<B, 2>) -> Tensor<B, 2> {
    assert_same_width(&a, &b);
    normalize(a).matmul(normalize(b).transpose())
}

/// Computes the cosine similarity sim(aᵢ, bᵢ) of each row of `a` with the same row of `b`: `[n, d]`,
/// `[n, d]` → `[n]`.
///
/// See [`cosine_similarity`] for the formula.
///
/// # Panics
/// If the shapes of `a` and `b` differ.
pub fn paired_cosine_similarity<B: Backend>(a: Tensor<B, 2>, b: Tensor<B, 2>) -> Tensor<B, 1> {
    assert_eq!(a.dims(), b.dims(), "paired rows must have the same shape");
    (normalize(a) * normalize(b)).sum_dim(1).squeeze_dim(1)
}

fn assert_same_width<B: Backend>(a: &Tensor<B, 2>, b: &Tensor<B, 2>) {
    let ([_, left], [_, right]) = (a.dims(), b.dims());
    assert_eq!(left, right, "embeddings must have the same width");
}
