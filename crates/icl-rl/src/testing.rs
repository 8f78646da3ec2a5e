//! Test support of this crate: a backend, closeness, finite differences, random numbers.

use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

#[path = "../tests/backend/mod.rs"]
mod backend;

pub(crate) use backend::{TestAutodiff, TestBackend};

/// Returns the elements of a tensor, row after row.
pub(crate) fn to_vec<B: Backend, const D: usize>(tensor: &Tensor<B, D>) -> Vec<f64> {
    tensor.to_data().iter::<f64>().collect()
}

/// Draws `n` numbers uniformly from [−1, 1], exact in single precision.
pub(crate) fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = Pcg64::seed_from_u64(seed);
    (0..n)
        .map(|_| f64::from(2.0 * rng.random::<f32>() - 1.0))
        .collect()
}

/// Creates a tensor `[rows, columns]` of these values.
pub(crate) fn matrix<B: Backend>(values: &[f64], shape: [usize; 2]) -> Tensor<B, 2> {
    Tensor::from_data(TensorData::new(values.to_vec(), shape), &Default::default())
}

/// Asserts `|actual - expected| <= tolerance * scale`, where `scale` is the largest `|expected|`.
#[track_caller]
pub(crate) fn assert_close(actual: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(actual.len(), expected.len(), "lengths differ");
    let scale = expected.iter().fold(0.0, |most: f64, e| most.max(e.abs()));
    for (index, (a, e)) in actual.iter().zip(expected).enumerate() {
        assert!(
            (a - e).abs() <= tolerance * scale,
            "element {index}: found {a}, expected {e} within {tolerance} of {scale}"
        );
    }
}

/// Computes the gradient of `f` at `x` by central differences with step `h`.
pub(crate) fn finite_difference(f: impl Fn(&[f64]) -> f64, x: &[f64], h: f64) -> Vec<f64> {
    let mut at = x.to_vec();
    (0..x.len())
        .map(|index| {
            at[index] = x[index] + h;
            let above = f(&at);
            at[index] = x[index] - h;
            let below = f(&at);
            at[index] = x[index];
            (above - below) / (2.0 * h)
        })
        .collect()
}
