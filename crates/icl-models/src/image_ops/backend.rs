//! The operators that image encoders ask of a backend.

use burn::tensor::{Tensor, backend::Backend};

use super::batch_norm::{
    BatchNormGradients, BatchNormSaved, composed_batch_norm, composed_batch_norm_backward,
};
use super::composed;
use super::window::Window;

/// A backend that image encoders run on: those of this crate's features, and [`Autodiff`] of each.
/// Another one joins with an empty `impl`, which is the composed form of everything.
///
/// [`Autodiff`]: burn::backend::Autodiff
pub trait ImageBackend: Backend {
    /// The convolution of `x` `[n, h, w, c_in]` by `weight` `[c_out, c_in, size, size]`, without
    /// bias: `[n, h′, w′, c_out]`.
    fn convolution(x: Tensor<Self, 4>, weight: Tensor<Self, 4>, window: Window) -> Tensor<Self, 4> {
        composed::convolution(x, weight, window)
    }

    /// The gradient of [`convolution`](Self::convolution) by its input `[n, h, w, c_in]`, whose
    /// sides are `[h, w]`, from that by its output `[n, h′, w′, c_out]`.
    fn convolution_input_gradient(
        gradient: Tensor<Self, 4>,
        weight: Tensor<Self, 4>,
        window: Window,
        sides: [usize; 2],
    ) -> Tensor<Self, 4> {
        composed::convolution_input_gradient(gradient, weight, window, sides)
    }

    /// The gradient of [`convolution`](Self::convolution) by its weight
    /// `[c_out, c_in, size, size]`, from that by its output `[n, h′, w′, c_out]`.
    fn convolution_weight_gradient(
        x: Tensor<Self, 4>,
        gradient: Tensor<Self, 4>,
        window: Window,
    ) -> Tensor<Self, 4> {
        composed::convolution_weight_gradient(x, gradient, window)
    }

    /// Batch normalisation by the batch's own statistics, with affine terms, then what is added,
    /// then ReLU if asked for, of `x` `[n, h, w, c]`:
    ///
    /// ```text
    /// y = relu(γ·(x − mean)/√(var + ε) + β + residual)     mean and biased variance of each channel
    /// ```
    fn batch_norm(
        x: Tensor<Self, 4>,
        affine: [Tensor<Self, 1>; 2],
        residual: Option<Tensor<Self, 4>>,
        epsilon: f64,
        relu: bool,
    ) -> Tensor<Self, 4> {
        Self::batch_norm_saving(x, affine, residual, epsilon, relu).0
    }

    /// [`batch_norm`](Self::batch_norm), with what its backward pass needs.
    fn batch_norm_saving(
        x: Tensor<Self, 4>,
        affine: [Tensor<Self, 1>; 2],
        residual: Option<Tensor<Self, 4>>,
        epsilon: f64,
        relu: bool,
    ) -> (Tensor<Self, 4>, BatchNormSaved<Self>) {
        composed_batch_norm(x, affine, residual, epsilon, relu)
    }

    /// The gradients of [`batch_norm`](Self::batch_norm), from that by its output `[n, h, w, c]`.
    fn batch_norm_backward(
        saved: BatchNormSaved<Self>,
        gradient: Tensor<Self, 4>,
    ) -> BatchNormGradients<Self> {
        composed_batch_norm_backward(saved, gradient)
    }

    /// What a normalisation with known statistics is, on `x` `[n, h, w, c]` with `scale` and
    /// `shift` `[c]`:
    ///
    /// ```text
    /// y = relu(x·scale + shift + residual)
    /// ```
    fn scale_shift(
        x: Tensor<Self, 4>,
        scale: Tensor<Self, 1>,
        shift: Tensor<Self, 1>,
        residual: Option<Tensor<Self, 4>>,
        relu: bool,
    ) -> Tensor<Self, 4> {
        composed::scale_shift(x, scale, shift, residual, relu)
    }

    /// The maximum over each window of `x` `[n, h, w, c]`; padding never wins.
    fn max_pool(x: Tensor<Self, 4>, window: Window) -> Tensor<Self, 4> {
        Self::select_maxima(x.clone(), x, window)
    }

    /// The elements of `values` `[n, h, w, c]` that stand where the first maximum of each window of
    /// `x` `[n, h, w, c]` does: `[n, h′, w′, c]`. `x` gets no gradient.
    fn select_maxima(
        x: Tensor<Self, 4>,
        values: Tensor<Self, 4>,
        window: Window,
    ) -> Tensor<Self, 4> {
        composed::select_maxima(x, values, window)
    }

    /// The transpose of [`select_maxima`](Self::select_maxima): `gradient` `[n, h′, w′, c]` added
    /// up where the first maxima of `x` stand, 0 elsewhere: `[n, h, w, c]`. `x` gets no gradient.
    fn scatter_maxima(
        x: Tensor<Self, 4>,
        gradient: Tensor<Self, 4>,
        window: Window,
    ) -> Tensor<Self, 4> {
        composed::scatter_maxima(x, gradient, window)
    }
}

#[cfg(feature = "tch")]
impl ImageBackend for burn::backend::LibTorch {}
#[cfg(feature = "wgpu")]
impl ImageBackend for burn::backend::Wgpu {}
#[cfg(feature = "vulkan")]
impl ImageBackend for burn::backend::Vulkan {}
#[cfg(feature = "cuda")]
impl ImageBackend for burn::backend::Cuda {}
