//! Sums of exponentials that neither overflow nor lose their small terms.
//!
//! At temperatures down to 0.01 the exponents sim/τ reach ±100, whose exponentials f32 cannot hold.
//! Every quantity of the papers is therefore computed as a logarithm.

use burn::tensor::{Tensor, TensorData, backend::Backend};

use crate::GrowthRatio;

/// Returns the logarithms of counts as a tensor `[n]`, on the device and in the precision of `like`.
pub(crate) fn log_counts<B: Backend, const D: usize>(
    counts: impl IntoIterator<Item = usize>,
    like: &Tensor<B, D>,
) -> Tensor<B, 1> {
    let logs: Vec<f64> = counts.into_iter().map(|n| (n as f64).ln()).collect();
    let n = logs.len();
    Tensor::from_data(TensorData::new(logs, [n]), (&like.device(), like.dtype()))
}

/// Returns log(exp(a) + exp(b)), element by element, for values without gradient.
pub(crate) fn log_add_exp<B: Backend>(a: Tensor<B, 1>, b: Tensor<B, 1>) -> Tensor<B, 1> {
    // Relative to the larger of both, so that no exponential overflows.
    let distance = (a.clone() - b.clone()).abs();
    a.max_pair(b) + distance.neg().exp().log1p()
}

/// Returns softplus(z) = log(1 + exp(z)), exact to rounding for every finite z.
///
/// It is computed as (z + |z|)/2 + log1p(exp(−|z|)), whose derivative is also right at 0. That of the
/// form with max(z, 0) is not.
pub(crate) fn softplus<B: Backend>(z: Tensor<B, 1>) -> Tensor<B, 1> {
    let magnitude = z.clone().abs();
    (z + magnitude.clone()) * 0.5 + magnitude.neg().exp().log1p()
}

/// Returns log(α·exp(x) + 1 − α), the logarithm of a mixture with weight α.
///
/// It is exactly 0 at x = 0 and at α = 0, and exactly x at α = 1. NCE-II (x = log r, Eq. 8) and the
/// mixed noise (x = log E_ΔX − log E_X, Eq. 27) are both this function.
pub(crate) fn log_mix<B: Backend>(x: Tensor<B, 1>, alpha: GrowthRatio) -> Tensor<B, 1> {
    let alpha = alpha.value();
    if alpha == 0.0 {
        return x * 0.0;
    }
    if alpha == 1.0 {
        return x;
    }
    // Near 0: log1p(α·expm1(x)), with expm1(x) = 2t/(1 − t) and t = tanh(x/2), which is exact
    // at 0. Elsewhere: log(1 − α) + softplus(x + log(α/(1 − α))), which cannot overflow.
    // Clamped, because expm1 overflows for large x: the gradient of the form that the mask drops would be 0·∞ = NaN.
    let t = (x.clone().clamp(-1.0, 1.0) * 0.5).tanh();
    let expm1 = t.clone() * 2.0 / (t.neg() + 1.0);
    let near = (expm1 * alpha).log1p();
    let log_rest = (-alpha).ln_1p();
    let far = softplus(x.clone() + (alpha.ln() - log_rest)) + log_rest;
    let is_far = x.abs().greater_elem(1.0);
    near.mask_where(is_far, far)
}
