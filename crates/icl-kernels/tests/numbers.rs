//! Numbers for tests.

use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use icl_kernels::testing::assert_close;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Tolerance of sums in single precision, relative to the largest value.
pub const SINGLE: f64 = 1e-5;
pub const DOUBLE: f64 = 1e-12;

pub fn generator(seed: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed)
}

/// Numbers from −1 to 1.
pub fn draw(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = generator(seed);
    (0..n).map(|_| rng.random::<f64>() * 2.0 - 1.0).collect()
}

pub fn tensor<B: Backend, const D: usize>(
    values: &[f64],
    shape: [usize; D],
    dtype: DType,
) -> Tensor<B, D> {
    Tensor::from_data(
        TensorData::new(values.to_vec(), shape),
        (&Default::default(), dtype),
    )
}

/// Asserts closeness relative to the largest expected value.
#[track_caller]
pub fn assert_near(actual: &[f64], expected: &[f64], tolerance: f64) {
    let largest = expected
        .iter()
        .fold(f64::MIN_POSITIVE, |m, e| m.max(e.abs()));
    let scaled = |values: &[f64]| -> Vec<f64> { values.iter().map(|v| v / largest).collect() };
    assert_close(&scaled(actual), &scaled(expected), tolerance);
}
