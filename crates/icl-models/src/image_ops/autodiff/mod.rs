//! Gradients of the operators: each registers a backward step of its own.
//!
//! The backward steps are made of operators again, so `Autodiff<Autodiff<B>>` computes second
//! derivatives.

mod batch_norm;
mod bilinear;
mod convolution;
mod dense_product;
mod max_pool;

use burn::backend::Autodiff;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::tensor::Tensor;

use super::backend::ImageBackend;
use super::batch_norm::{BatchNormGradients, BatchNormSaved};
use super::window::Window;

impl<B: ImageBackend, C: CheckpointStrategy> ImageBackend for Autodiff<B, C> {
    fn dense_product(x: Tensor<Self, 2>, weight: Tensor<Self, 2>) -> Tensor<Self, 2> {
        dense_product::product(x, weight)
    }

    fn dense_product_input_gradient(
        gradient: Tensor<Self, 2>,
        weight: Tensor<Self, 2>,
    ) -> Tensor<Self, 2> {
        dense_product::input_gradient(gradient, weight)
    }

    fn dense_product_weight_gradient(
        x: Tensor<Self, 2>,
        gradient: Tensor<Self, 2>,
    ) -> Tensor<Self, 2> {
        dense_product::weight_gradient(x, gradient)
    }

    fn convolution(x: Tensor<Self, 4>, weight: Tensor<Self, 4>, window: Window) -> Tensor<Self, 4> {
        convolution::convolution(x, weight, window)
    }

    fn convolution_input_gradient(
        gradient: Tensor<Self, 4>,
        weight: Tensor<Self, 4>,
        window: Window,
        sides: [usize; 2],
    ) -> Tensor<Self, 4> {
        convolution::input_gradient(gradient, weight, window, sides)
    }

    fn convolution_weight_gradient(
        x: Tensor<Self, 4>,
        gradient: Tensor<Self, 4>,
        window: Window,
    ) -> Tensor<Self, 4> {
        convolution::weight_gradient(x, gradient, window)
    }

    fn batch_norm_saving(
        x: Tensor<Self, 4>,
        affine: [Tensor<Self, 1>; 2],
        residual: Option<Tensor<Self, 4>>,
        epsilon: f64,
        relu: bool,
    ) -> (Tensor<Self, 4>, BatchNormSaved<Self>) {
        batch_norm::saving(x, affine, residual, epsilon, relu)
    }

    fn batch_norm_backward(
        saved: BatchNormSaved<Self>,
        gradient: Tensor<Self, 4>,
    ) -> BatchNormGradients<Self> {
        batch_norm::backward(saved, gradient)
    }

    fn select_maxima(
        x: Tensor<Self, 4>,
        values: Tensor<Self, 4>,
        window: Window,
    ) -> Tensor<Self, 4> {
        max_pool::select(x, values, window)
    }

    fn scatter_maxima(
        x: Tensor<Self, 4>,
        gradient: Tensor<Self, 4>,
        window: Window,
    ) -> Tensor<Self, 4> {
        max_pool::scatter(x, gradient, window)
    }
}
