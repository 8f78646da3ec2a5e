//! Cosine similarity, the sim(·, ·) of Definition 2.

use burn::tensor::{Tensor, backend::Backend};

pub use icl_kernels::rows::normalize;

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
