//! The change ratio of the noise distribution (Definition 4).

use burn::tensor::{Tensor, backend::Backend};

use crate::Contrast;
use crate::log_space::softplus;

/// log r of each anchor, r the change ratio of the noise distribution from X to ΔX: `[n]`.
///
/// ```text
/// r = (f⁺ + K·E_ΔX f⁻) / (f⁺ + K·E_X f⁻)                                    (6)
/// log r = softplus(log K + log E_ΔX − log f⁺) − softplus(log K + log E_X − log f⁺)
/// ```
///
/// Exactly 0 where both noises have one mean. `negatives` is K, above 0: it is not checked here.
pub fn log_change_ratio<B: Backend>(contrast: &Contrast<B>, negatives: f64) -> Tensor<B, 1> {
    // Eq. (6), both sums divided by f⁺.
    let relative = |log_noise: &Tensor<B, 1>| {
        softplus(log_noise.clone() - contrast.positive.clone() + negatives.ln())
    };
    relative(&contrast.log_noise_new) - relative(&contrast.log_noise_old)
}

/// The change ratio itself, exp(log r): `[n]`. It overflows in f32 where log r > 88, which takes a
/// temperature below 0.023; [`log_change_ratio`] does not.
pub fn change_ratio<B: Backend>(contrast: &Contrast<B>, negatives: f64) -> Tensor<B, 1> {
    log_change_ratio(contrast, negatives).exp()
}
