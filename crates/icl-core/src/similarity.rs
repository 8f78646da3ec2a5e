//! Cosine similarity, the sim(·, ·) of Definition 2.

use burn::tensor::{Tensor, backend::Backend};

/// The rows of `x` `[n, d]`, each divided by its Euclidean length.
///
/// A row of zeros has no direction: it stays a row of zeros, so its similarity to everything is 0,
/// and its gradient is 0. Rows are scaled by their largest element first, so that neither tiny nor
/// huge rows under- or overflow when they are squared.
pub fn normalize<B: Backend>(x: Tensor<B, 2>) -> Tensor<B, 2> {
    // The direction does not depend on this scale, so it is a constant for the gradient.
    let scale = x.clone().detach().abs().max_dim(1);
    let is_zero = scale.clone().equal_elem(0.0);
    let x = x / scale.mask_fill(is_zero.clone(), 1.0);
    let square = (x.clone() * x.clone()).sum_dim(1);
    // Divided by infinity, a row of zeros stays one and passes no gradient on.
    x / square.mask_fill(is_zero, f32::INFINITY).sqrt()
}

/// sim(aᵢ, bⱼ) for all pairs of rows: `[n, d]`, `[m, d]` → `[n, m]`, values in [−1, 1].
///
/// ```text
/// sim(a, b) = ⟨a, b⟩ / (‖a‖ ‖b‖), 0 if a or b is zero
/// ```
///
/// # Panics
/// If the widths of `a` and `b` differ.
pub fn cosine_similarity<B: Backend>(a: Tensor<B, 2>, b: Tensor<B, 2>) -> Tensor<B, 2> {
    assert_same_width(&a, &b);
    normalize(a).matmul(normalize(b).transpose())
}

/// sim(aᵢ, bᵢ) row by row: `[n, d]`, `[n, d]` → `[n]`.
///
/// # Panics
/// If the shapes of `a` and `b` differ.
pub fn paired_cosine_similarity<B: Backend>(a: Tensor<B, 2>, b: Tensor<B, 2>) -> Tensor<B, 1> {
    assert_eq!(a.dims(), b.dims(), "pairs of rows must have one shape");
    (normalize(a) * normalize(b)).sum_dim(1).squeeze_dim(1)
}

fn assert_same_width<B: Backend>(a: &Tensor<B, 2>, b: &Tensor<B, 2>) {
    let ([_, left], [_, right]) = (a.dims(), b.dims());
    assert_eq!(left, right, "embeddings must have one width");
}
