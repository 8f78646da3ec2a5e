//! Batch normalisation with residual and ReLU, and its gradients.

use burn::tensor::activation::relu as rectify;
use burn::tensor::{Tensor, backend::Backend};

use super::kernels::kernels;
use super::saved::{BatchNormGradients, BatchNormSaved};

/// Applies batch normalisation by the batch's own statistics with the affine terms `[γ, β]`, each
/// `[c]`, then adds `residual` if there is one and applies ReLU if `relu` is true. All tensors of
/// images are `[n, h, w, c]`.
///
/// ```text
/// y = relu(γ·(x − mean)/√(var + ε) + β + residual)     mean and biased variance of each channel
/// ```
pub fn batch_norm<B: Backend>(
    x: Tensor<B, 4>,
    affine: [Tensor<B, 1>; 2],
    residual: Option<Tensor<B, 4>>,
    epsilon: f64,
    relu: bool,
) -> Tensor<B, 4> {
    batch_norm_saving(x, affine, residual, epsilon, relu).0
}

/// Applies [`batch_norm`] and returns the output with the values that its backward pass needs.
pub fn batch_norm_saving<B: Backend>(
    x: Tensor<B, 4>,
    affine: [Tensor<B, 1>; 2],
    residual: Option<Tensor<B, 4>>,
    epsilon: f64,
    relu: bool,
) -> (Tensor<B, 4>, BatchNormSaved<B>) {
    if let Some(kernel) = kernels::<B>(x.dtype()).batch_norm_saving {
        return kernel(x, affine, residual, epsilon, relu);
    }
    let [weight, bias] = affine;
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

/// Computes the gradients of [`batch_norm`], given the `gradient` by its output `[n, h, w, c]`.
pub fn batch_norm_backward<B: Backend>(
    saved: BatchNormSaved<B>,
    gradient: Tensor<B, 4>,
) -> BatchNormGradients<B> {
    match kernels::<B>(gradient.dtype()).batch_norm_backward {
        Some(kernel) => kernel(saved, gradient),
        None => gradients(saved, gradient),
    }
}

/// Computes the gradients by operations of Burn.
pub(super) fn gradients<B: Backend>(
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

/// Scales and shifts each channel of `x` `[n, h, w, c]` by `scale` and `shift` `[c]`, then adds
/// `residual` if there is one and applies ReLU if `relu` is true. Normalisation by known
/// statistics has this form.
///
/// ```text
/// y = relu(x·scale + shift + residual)
/// ```
pub fn scale_shift<B: Backend>(
    x: Tensor<B, 4>,
    scale: Tensor<B, 1>,
    shift: Tensor<B, 1>,
    residual: Option<Tensor<B, 4>>,
    relu: bool,
) -> Tensor<B, 4> {
    match kernels::<B>(x.dtype()).scale_shift {
        Some(kernel) => kernel(x, scale, shift, residual, relu),
        None => rectified(x * scale.unsqueeze() + shift.unsqueeze(), residual, relu),
    }
}

/// Adds `residual` if there is one, and applies ReLU if `relu` is true.
fn rectified<B: Backend>(
    x: Tensor<B, 4>,
    residual: Option<Tensor<B, 4>>,
    relu: bool,
) -> Tensor<B, 4> {
    let y = match residual {
        Some(residual) => x + residual,
        None => x,
    };
    if relu { rectify(y) } else { y }
}

/// Computes the mean and 1/√(var + ε) of each channel by differentiable operations.
pub(super) fn statistics<B: Backend>(x: &Tensor<B, 4>, epsilon: f64) -> [Tensor<B, 1>; 2] {
    let mean = channel_means(x.clone());
    let centred = x.clone() - along(&mean);
    let variance = channel_means(centred.clone() * centred);
    [mean, (variance + epsilon).sqrt().recip()]
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
