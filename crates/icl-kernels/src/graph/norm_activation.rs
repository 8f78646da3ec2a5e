//! Batch normalisation without affine terms, leaky ReLU and dropout in one step.

use burn::tensor::{Tensor, backend::Backend};

use super::kernels::kernels;
use super::saved::{NormActivation, NormActivationSaved};
use crate::dropout::DropoutMask;

/// Applies [`NormActivation`] to `x` `[n, c]` and returns the output `[n, c]` with the values that
/// the backward pass needs.
pub fn norm_activation<B: Backend>(
    options: NormActivation,
    x: Tensor<B, 2>,
    mask: Option<DropoutMask>,
) -> (Tensor<B, 2>, NormActivationSaved<B>) {
    if let Some(kernel) = kernels::<B>(x.dtype()).norm_activation {
        return kernel(options, x, mask);
    }
    let saved = statistics(options, x, mask);
    let normal = (saved.input.clone() - saved.mean.clone()) * saved.scale.clone();
    let slope = slope(&normal, options, &saved.mask);
    (normal * slope, saved)
}

/// Computes the statistics of `x` by differentiable operations.
pub(super) fn statistics<B: Backend>(
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

/// Computes the gradient of [`norm_activation`] by its input, given the `gradient` by its output, both `[n, c]`.
pub fn norm_activation_backward<B: Backend>(
    options: NormActivation,
    saved: NormActivationSaved<B>,
    gradient: Tensor<B, 2>,
) -> Tensor<B, 2> {
    match kernels::<B>(gradient.dtype()).norm_activation_backward {
        Some(kernel) => kernel(options, saved, gradient),
        None => gradient_by_input(options, saved, gradient),
    }
}

/// Computes the gradient by operations of Burn.
pub(super) fn gradient_by_input<B: Backend>(
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

/// Returns the factor m ⊙ (1 if x̂ > 0, slope otherwise) of x̂.
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
