//! NCE-I with noise that is drawn for each anchor (Wu et al., 2022, Eq. 1 and 8).

use burn::tensor::{Tensor, backend::Backend};

use super::info_nce::nce_i;
use crate::Draws;
use crate::contrast::drawn_log_noise_in_batch;
use crate::contrast::similarity::normalize;
use crate::contrast::terms::positive_logits;

/// Computes NCE-I for each anchor of a batch, in nats, with negatives that are drawn from the positives of the other
/// anchors: `[n, d]`, `[n, d]` → `[n]`.
///
/// ```text
/// L = −log( f⁺ / (f⁺ + Σ_{j ∈ 𝒩ᵢ} f(xᵢ, xⱼ⁺)) )        |𝒩ᵢ| = kᵢ            (ANS, 1)
/// ```
///
/// It is 0, with gradient 0, for an anchor that draws no noise. `temperature` is τ; it must be above 0, which is not
/// checked. See [`Draws`] for the draws and for batches of fewer than kᵢ noise samples.
///
/// # Panics
/// If the shapes differ, n < 2, or the number of draws is not n.
pub fn drawn_nce_i<B: Backend>(
    anchors: Tensor<B, 2>,
    positives: Tensor<B, 2>,
    temperature: f64,
    draws: &Draws,
) -> Tensor<B, 1> {
    let (anchors, positives) = (normalize(anchors), normalize(positives));
    let positive = positive_logits(anchors.clone(), positives.clone(), temperature);
    let log_noise = drawn_log_noise_in_batch(anchors, positives, temperature, draws);
    nce_i(positive, log_noise, draws.negatives())
}
