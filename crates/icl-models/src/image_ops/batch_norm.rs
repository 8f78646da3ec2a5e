//! Batch normalisation, the values that it saves for its backward pass, and that pass.

use burn::tensor::{Tensor, backend::Backend};

use super::composed::rectified;

/// Values that the backward pass of batch normalisation needs.
#[derive(Debug, Clone)]
pub struct BatchNormSaved<B: Backend> {
    /// Input `[n, h, w, c]`.
    pub input: Tensor<B, 4>,
    /// Mean of each channel `[c]`.
    pub mean: Tensor<B, 1>,
    /// 1/√(var + ε) of each channel `[c]`.
    pub scale: Tensor<B, 1>,
    /// Affine factor γ `[c]`.
    pub weight: Tensor<B, 1>,
    /// Output `[n, h, w, c]` if ReLU was applied: the gradient is 0 where the output is.
    pub rectified: Option<Tensor<B, 4>>,
    /// Whether a residual was added.
    pub has_residual: bool,
    /// Constant ε added to the variance.
    pub epsilon: f64,
}

/// Gradients of batch normalisation.
#[derive(Debug, Clone)]
pub struct BatchNormGradients<B: Backend> {
    /// Gradient by the input `[n, h, w, c]`.
    pub input: Tensor<B, 4>,
    /// Gradient by γ `[c]`.
    pub weight: Tensor<B, 1>,
    /// Gradient by β `[c]`.
    pub bias: Tensor<B, 1>,
    /// Gradient by the residual `[n, h, w, c]`, if one was added.
    pub residual: Option<Tensor<B, 4>>,
}

pub(super) fn composed_batch_norm<B: Backend>(
    x: Tensor<B, 4>,
    [weight, bias]: [Tensor<B, 1>; 2],
    residual: Option<Tensor<B, 4>>,
    epsilon: f64,
    relu: bool,
) -> (Tensor<B, 4>, BatchNormSaved<B>) {
    let [mean, scale] = statistics(&x, epsilon);
    let normal = (x.clone() - along(&mean)) * along(&scale);
    let has_residual = residual.is_some();
    let y = rectified(normal * along(&weight) + along(&bias), residual, relu);
    let saved = BatchNormSaved {
        input: x,
        mean,
        scale,
        weight,
        rectified: relu.then(|| y.clone()),
        has_residual,
        epsilon,
    };
    (y, saved)
}

/// Computes the mean and 1/√(var + ε) of each channel by differentiable operations.
pub(super) fn statistics<B: Backend>(x: &Tensor<B, 4>, epsilon: f64) -> [Tensor<B, 1>; 2] {
    let mean = channel_means(x.clone());
    let centred = x.clone() - along(&mean);
    let variance = channel_means(centred.clone() * centred);
    [mean, (variance + epsilon).sqrt().recip()]
}

pub(super) fn composed_batch_norm_backward<B: Backend>(
    saved: BatchNormSaved<B>,
    gradient: Tensor<B, 4>,
) -> BatchNormGradients<B> {
    let gradient = match saved.rectified {
        Some(y) => gradient.mask_fill(y.lower_equal_elem(0.0), 0.0),
        None => gradient,
    };
    let [n, height, width, _] = gradient.dims();
    let n_rows = (n * height * width) as f64;
    let normal = (saved.input - along(&saved.mean)) * along(&saved.scale);
    let mean = channel_means(gradient.clone());
    let projection = channel_means(gradient.clone() * normal.clone());
    let centred = gradient.clone() - along(&mean) - normal * along(&projection);
    BatchNormGradients {
        input: centred * along(&(saved.scale * saved.weight)),
        weight: projection * n_rows,
        bias: mean * n_rows,
        residual: saved.has_residual.then_some(gradient),
    }
}

fn channel_means<B: Backend>(x: Tensor<B, 4>) -> Tensor<B, 1> {
    let [n, height, width, channels] = x.dims();
    x.reshape([n * height * width, channels])
        .mean_dim(0)
        .reshape([channels])
}

fn along<B: Backend>(channels: &Tensor<B, 1>) -> Tensor<B, 4> {
    channels.clone().unsqueeze()
}
