//! Cosine similarity, the sim(·, ·) of Definition 2.

use burn::tensor::{DType, Tensor, TensorData, backend::Backend};

use crate::is_host_memory;

/// Divides each row of `x` `[n, d]` by its Euclidean length.
///
/// A row of zeros has no direction. It stays a row of zeros, so that its similarity to every row is 0,
/// and its gradient is 0. Rows are scaled by their largest element first, so that squaring neither
/// overflows nor underflows.
pub fn normalize<B: Backend>(x: Tensor<B, 2>) -> Tensor<B, 2> {
    // The direction does not depend on this scale, so it is a constant for the gradient.
    let scale = largest_of_rows(x.clone().detach());
    let is_zero = scale.clone().equal_elem(0.0);
    let x = x / scale.mask_fill(is_zero.clone(), 1.0);
    let square = (x.clone() * x.clone()).sum_dim(1);
    // Divided by infinity, a row of zeros stays one and passes no gradient on.
    x / square.mask_fill(is_zero, f32::INFINITY).sqrt()
}

/// Returns the largest absolute value of each row of `x` `[n, d]`, which has no gradient: `[n, 1]`.
fn largest_of_rows<B: Backend>(x: Tensor<B, 2>) -> Tensor<B, 2> {
    let ([n, width], device) = (x.dims(), x.device());
    if x.dtype() != DType::F32 || !is_host_memory::<B>(&device) {
        return x.abs().max_dim(1);
    }
    let values = x.into_data();
    let values = values.as_slice::<f32>().expect("single precision");
    let largest: Vec<f32> = values.chunks_exact(width).map(largest_of_row).collect();
    Tensor::from_data(TensorData::new(largest, [n, 1]), &device)
}

/// Returns the largest absolute value of a row, lane by lane, so that it is computed in vectors.
fn largest_of_row(row: &[f32]) -> f32 {
    const LANES: usize = 16;
    let larger = |a: f32, b: f32| if a > b { a } else { b };
    let (blocks, rest) = row.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for block in blocks {
        for lane in 0..LANES {
            lanes[lane] = larger(block[lane].abs(), lanes[lane]);
        }
    }
    let rest = rest.iter().map(|value| value.abs());
    lanes.into_iter().chain(rest).fold(0.0, larger)
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
