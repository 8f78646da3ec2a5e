//! Test support: a backend to test on, closeness, finite differences.

use burn::backend::autodiff::checkpoint::strategy::BalancedCheckpointing;
use burn::backend::{Autodiff, Flex};
use burn::tensor::{DType, Tensor, backend::Backend};

/// Backend that tests run on: `flex`, or the one of a feature `testing-NAME`.
pub type TestBackend = ChosenBackend;
/// [`TestBackend`] with gradients.
pub type TestAutodiff = Autodiff<TestBackend>;

/// A backend that has no kernels, whatever the features are: all operators and their gradients are composed of
/// Burn's. What is tested on it holds for every backend that this crate does not know.
pub type ComposedBackend = Autodiff<Flex, BalancedCheckpointing>;

#[cfg(feature = "testing-cuda")]
use burn::backend::Cuda as ChosenBackend;
#[cfg(not(any(
    feature = "testing-tch",
    feature = "testing-wgpu",
    feature = "testing-vulkan",
    feature = "testing-cuda"
)))]
use burn::backend::Flex as ChosenBackend;
#[cfg(feature = "testing-tch")]
use burn::backend::LibTorch as ChosenBackend;
#[cfg(feature = "testing-vulkan")]
use burn::backend::Vulkan as ChosenBackend;
#[cfg(feature = "testing-wgpu")]
use burn::backend::Wgpu as ChosenBackend;

/// Returns whether [`TestBackend`] calculates in double precision, and prints a note on stderr if it
/// does not: the caller then skips its assertions in double precision.
pub fn has_double_precision() -> bool {
    let is_there = crate::has_double_precision::<TestBackend>(&Default::default());
    if !is_there {
        eprintln!("no double precision on this backend: assertions in it are skipped");
    }
    is_there
}

/// Absolute error of logarithms near 1 that [`TestBackend`] may have. The specification of Vulkan allows
/// 2⁻²¹ between 0.5 and 2, and Burn's log1p is made of this logarithm; other backends have none.
pub const LOGARITHM_ERROR: f64 = if cfg!(any(feature = "testing-wgpu", feature = "testing-vulkan"))
{
    1.0 / 2_097_152.0
} else {
    0.0
};

/// Returns the precisions that [`TestBackend`] calculates in, each with its tolerance.
pub fn precisions(single: f64, double: f64) -> Vec<(DType, f64)> {
    let mut all = vec![(DType::F32, single)];
    if has_double_precision() {
        all.push((DType::F64, double));
    }
    all
}

/// Returns the elements of a tensor, row after row, as f64.
///
/// # Panics
/// If the tensor holds no floats.
pub fn to_vec<B: Backend, const D: usize>(tensor: &Tensor<B, D>) -> Vec<f64> {
    crate::host_values(tensor.clone())
}

/// Asserts `|actual - expected| <= tolerance * max(1, |expected|)`, element by element.
///
/// # Panics
/// At the first element outside the tolerance, or if the lengths differ.
#[track_caller]
pub fn assert_close(actual: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(actual.len(), expected.len(), "lengths differ");
    for (index, (a, e)) in actual.iter().zip(expected).enumerate() {
        assert!(
            (a - e).abs() <= tolerance * e.abs().max(1.0),
            "element {index}: found {a}, expected {e} within {tolerance}"
        );
    }
}

/// Computes the gradient of `f` at `x` by central differences with step `h`.
pub fn finite_difference(f: impl Fn(&[f64]) -> f64, x: &[f64], h: f64) -> Vec<f64> {
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
