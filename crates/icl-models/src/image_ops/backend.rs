//! The operators that image encoders, and layers with batch normalisation, need of a backend.

use burn::tensor::{Tensor, backend::Backend};

use super::batch_norm::{
    BatchNormGradients, BatchNormSaved, composed_batch_norm, composed_batch_norm_backward,
};
use super::composed;
use super::window::Window;

/// A backend on which image encoders and batch-normalised layers of vectors run: the backends of this
/// crate's features, and [`Autodiff`] of each. An empty `impl` for another backend gives it the composed
/// form of every operator. Vectors are normalised as images of one pixel.
///
/// Images are `[n, h, w, c]`, channels last; h′ and w′ are the sides after a [`Window`]
/// ([`Window::output`]).
///
/// [`Autodiff`]: burn::backend::Autodiff
pub trait ImageBackend: Backend {
    /// Computes the product `[n, d_output]` of rows `x` `[n, d_input]` by `weight` `[d_input, d_output]`.
    fn dense_product(x: Tensor<Self, 2>, weight: Tensor<Self, 2>) -> Tensor<Self, 2> {
        x.matmul(weight)
    }

    /// Computes the gradient of [`dense_product`](Self::dense_product) by its rows `[n, d_input]`, given
    /// the `gradient` by its output `[n, d_output]`.
    fn dense_product_input_gradient(
        gradient: Tensor<Self, 2>,
        weight: Tensor<Self, 2>,
    ) -> Tensor<Self, 2> {
        gradient.matmul(weight.transpose())
    }

    /// Computes the gradient of [`dense_product`](Self::dense_product) by its weight
    /// `[d_input, d_output]`, given the `gradient` by its output `[n, d_output]`.
    fn dense_product_weight_gradient(
        x: Tensor<Self, 2>,
        gradient: Tensor<Self, 2>,
    ) -> Tensor<Self, 2> {
        x.transpose().matmul(gradient)
    }

    /// Computes the convolution `[n, h′, w′, c_out]` of `x` `[n, h, w, c_in]` by `weight`
    /// `[c_out, c_in, size, size]`, without bias.
    fn convolution(x: Tensor<Self, 4>, weight: Tensor<Self, 4>, window: Window) -> Tensor<Self, 4> {
        composed::convolution(x, weight, window)
    }

    /// Computes the gradient of [`convolution`](Self::convolution) by its input `[n, h, w, c_in]` of
    /// `sides` `[h, w]`, given the `gradient` by its output `[n, h′, w′, c_out]`.
    fn convolution_input_gradient(
        gradient: Tensor<Self, 4>,
        weight: Tensor<Self, 4>,
        window: Window,
        sides: [usize; 2],
    ) -> Tensor<Self, 4> {
        composed::convolution_input_gradient(gradient, weight, window, sides)
    }

    /// Computes the gradient of [`convolution`](Self::convolution) by its weight
    /// `[c_out, c_in, size, size]`, given the `gradient` by its output `[n, h′, w′, c_out]`.
    fn convolution_weight_gradient(
        x: Tensor<Self, 4>,
        gradient: Tensor<Self, 4>,
        window: Window,
    ) -> Tensor<Self, 4> {
        composed::convolution_weight_gradient(x, gradient, window)
    }

    /// Computes the gradients of [`convolution`](Self::convolution) by its input `x` `[n, h, w, c_in]` and by its `weight`
    /// `[c_out, c_in, size, size]`, given the `gradient` by its output `[n, h′, w′, c_out]`.
    fn convolution_gradients(
        x: Tensor<Self, 4>,
        weight: Tensor<Self, 4>,
        gradient: Tensor<Self, 4>,
        window: Window,
    ) -> [Tensor<Self, 4>; 2] {
        let [_, height, width, _] = x.dims();
        let by_weight = Self::convolution_weight_gradient(x, gradient.clone(), window);
        let by_input = Self::convolution_input_gradient(gradient, weight, window, [height, width]);
        [by_input, by_weight]
    }

    /// Applies batch normalisation by the batch's own statistics with the affine terms `[γ, β]`, each
    /// `[c]`, then adds `residual` if there is one and applies ReLU if `relu` is true. All tensors of
    /// images are `[n, h, w, c]`.
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

    /// Applies [`batch_norm`](Self::batch_norm) and returns the output with the values that its
    /// backward pass needs.
    fn batch_norm_saving(
        x: Tensor<Self, 4>,
        affine: [Tensor<Self, 1>; 2],
        residual: Option<Tensor<Self, 4>>,
        epsilon: f64,
        relu: bool,
    ) -> (Tensor<Self, 4>, BatchNormSaved<Self>) {
        composed_batch_norm(x, affine, residual, epsilon, relu)
    }

    /// Computes the gradients of [`batch_norm`](Self::batch_norm), given the `gradient` by its output
    /// `[n, h, w, c]`.
    fn batch_norm_backward(
        saved: BatchNormSaved<Self>,
        gradient: Tensor<Self, 4>,
    ) -> BatchNormGradients<Self> {
        composed_batch_norm_backward(saved, gradient)
    }

    /// Scales and shifts each channel of `x` `[n, h, w, c]` by `scale` and `shift` `[c]`, then adds
    /// `residual` if there is one and applies ReLU if `relu` is true. Normalisation by known
    /// statistics has this form.
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

    /// Computes the maximum `[n, h′, w′, c]` over each window of `x` `[n, h, w, c]`. Padding is never
    /// the maximum.
    fn max_pool(x: Tensor<Self, 4>, window: Window) -> Tensor<Self, 4> {
        Self::select_maxima(x.clone(), x, window)
    }

    /// Selects the elements `[n, h′, w′, c]` of `values` `[n, h, w, c]` at the position of the first
    /// maximum of each window of `x` `[n, h, w, c]`. `x` gets no gradient.
    fn select_maxima(
        x: Tensor<Self, 4>,
        values: Tensor<Self, 4>,
        window: Window,
    ) -> Tensor<Self, 4> {
        composed::select_maxima(x, values, window)
    }

    /// Adds the elements of `gradient` `[n, h′, w′, c]` at the positions of the first maxima of `x`
    /// `[n, h, w, c]` to zeros `[n, h, w, c]`: the transpose of
    /// [`select_maxima`](Self::select_maxima). `x` gets no gradient.
    fn scatter_maxima(
        x: Tensor<Self, 4>,
        gradient: Tensor<Self, 4>,
        window: Window,
    ) -> Tensor<Self, 4> {
        composed::scatter_maxima(x, gradient, window)
    }
}

#[cfg(feature = "wgpu")]
impl ImageBackend for burn::backend::Wgpu {}
#[cfg(feature = "vulkan")]
impl ImageBackend for burn::backend::Vulkan {}
#[cfg(feature = "cuda")]
impl ImageBackend for burn::backend::Cuda {}
