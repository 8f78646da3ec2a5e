//! Batch normalisation without affine terms, leaky ReLU and dropout in one step.

use burn::tensor::{Tensor, backend::Backend};

use crate::dropout::DropoutMask;

/// What follows each convolution while training.
///
/// ```text
/// x̂ = (x − mean(x)) / √(var(x) + ε)      mean and biased variance of each column over the batch
/// y = m ⊙ (x̂ if x̂ > 0, slope·x̂ otherwise)
/// ```
///
/// with a dropout mask m of 0 and 1/(1 − p), or none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormActivation {
    /// ε, added to the variance.
    pub epsilon: f64,
    /// The slope of the leaky ReLU below 0.
    pub negative_slope: f64,
}

/// What the backward pass of [`NormActivation`] needs.
#[derive(Debug, Clone)]
pub struct NormActivationSaved<B: Backend> {
    /// The input `[n, c]`.
    pub input: Tensor<B, 2>,
    /// The mean of each column `[1, c]`.
    pub mean: Tensor<B, 2>,
    /// 1/√(var + ε) of each column `[1, c]`.
    pub scale: Tensor<B, 2>,
    /// The dropout mask, row after row.
    pub mask: Option<DropoutMask>,
}

/// [`NormActivation`] on `x` `[n, c]` by Burn's own operators, with what its backward pass needs: what
/// [`GraphBackend::norm_activation`](super::GraphBackend::norm_activation) is where a backend has no
/// kernel, and what a kernel is measured against.
pub fn composed_norm_activation<B: Backend>(
    options: NormActivation,
    x: Tensor<B, 2>,
    mask: Option<DropoutMask>,
) -> (Tensor<B, 2>, NormActivationSaved<B>) {
    let saved = save(options, x, mask);
    let normal = (saved.input.clone() - saved.mean.clone()) * saved.scale.clone();
    let slope = slope(&normal, options, &saved.mask);
    (normal * slope, saved)
}

/// The statistics of `x`, by operations that a backend with gradients can follow.
pub(super) fn save<B: Backend>(
    options: NormActivation,
    x: Tensor<B, 2>,
    mask: Option<DropoutMask>,
) -> NormActivationSaved<B> {
    let mean = x.clone().mean_dim(0);
    let centred = x.clone() - mean.clone();
    let variance = (centred.clone() * centred).mean_dim(0);
    NormActivationSaved {
        input: x,
        mean,
        scale: (variance + options.epsilon).sqrt().recip(),
        mask,
    }
}

/// The gradient of [`composed_norm_activation`] by its input, from that by its output, both `[n, c]`.
pub fn composed_norm_activation_backward<B: Backend>(
    options: NormActivation,
    saved: NormActivationSaved<B>,
    gradient: Tensor<B, 2>,
) -> Tensor<B, 2> {
    let normal = (saved.input - saved.mean) * saved.scale.clone();
    let gradient = gradient * slope(&normal, options, &saved.mask);
    let projection = (gradient.clone() * normal.clone()).mean_dim(0);
    let mean = gradient.clone().mean_dim(0);
    (gradient - mean - normal * projection) * saved.scale
}

/// m ⊙ (1 if x̂ > 0, slope otherwise): what x̂ is multiplied by.
fn slope<B: Backend>(
    normal: &Tensor<B, 2>,
    options: NormActivation,
    mask: &Option<DropoutMask>,
) -> Tensor<B, 2> {
    let is_negative = normal.clone().lower_equal_elem(0.0);
    let slope = normal
        .ones_like()
        .mask_fill(is_negative, options.negative_slope);
    match mask {
        Some(mask) => slope * mask.tensor(normal.dims(), &normal.device(), normal.dtype()),
        None => slope,
    }
}
