//! Kernels of the operators on the default CPU backend, without intermediate tensors.
//!
//! Work is divided into parts whose bounds depend on shapes alone, and sums over parts are added in
//! order, so results are bitwise the same for any number of threads.

mod axis;
mod batch_norm;
mod batch_norm_gradient;
mod channels;
mod dense_product;
mod max_pool;
mod packing;
mod patches;
mod product;
mod sums;
mod weight;
mod weight_gradient;
mod winograd;

use burn::tensor::{DType, Tensor};
use burn_flex::Flex;

use super::backend::ImageBackend;
use super::batch_norm::{
    BatchNormGradients, BatchNormSaved, composed_batch_norm, composed_batch_norm_backward,
};
use super::composed;
use super::window::Window;

impl ImageBackend for Flex {
    fn dense_product(x: Tensor<Self, 2>, weight: Tensor<Self, 2>) -> Tensor<Self, 2> {
        if x.dtype() == DType::F32 {
            dense_product::dense_product(x, weight)
        } else {
            x.matmul(weight)
        }
    }

    fn dense_product_input_gradient(
        gradient: Tensor<Self, 2>,
        weight: Tensor<Self, 2>,
    ) -> Tensor<Self, 2> {
        if gradient.dtype() == DType::F32 {
            dense_product::input_gradient(gradient, weight)
        } else {
            gradient.matmul(weight.transpose())
        }
    }

    fn dense_product_weight_gradient(
        x: Tensor<Self, 2>,
        gradient: Tensor<Self, 2>,
    ) -> Tensor<Self, 2> {
        if gradient.dtype() == DType::F32 {
            dense_product::by_weight(x, gradient)
        } else {
            x.transpose().matmul(gradient)
        }
    }

    fn convolution(x: Tensor<Self, 4>, weight: Tensor<Self, 4>, window: Window) -> Tensor<Self, 4> {
        if x.dtype() == DType::F32 {
            product::convolution(x, weight, window)
        } else {
            composed::convolution(x, weight, window)
        }
    }

    fn convolution_input_gradient(
        gradient: Tensor<Self, 4>,
        weight: Tensor<Self, 4>,
        window: Window,
        sides: [usize; 2],
    ) -> Tensor<Self, 4> {
        if gradient.dtype() == DType::F32 {
            product::input_gradient(gradient, weight, window, sides)
        } else {
            composed::convolution_input_gradient(gradient, weight, window, sides)
        }
    }

    fn convolution_weight_gradient(
        x: Tensor<Self, 4>,
        gradient: Tensor<Self, 4>,
        window: Window,
    ) -> Tensor<Self, 4> {
        if gradient.dtype() == DType::F32 {
            weight_gradient::weight_gradient(x, gradient, window)
        } else {
            composed::convolution_weight_gradient(x, gradient, window)
        }
    }

    fn batch_norm_saving(
        x: Tensor<Self, 4>,
        affine: [Tensor<Self, 1>; 2],
        residual: Option<Tensor<Self, 4>>,
        epsilon: f64,
        relu: bool,
    ) -> (Tensor<Self, 4>, BatchNormSaved<Self>) {
        if x.dtype() == DType::F32 {
            batch_norm::forward(x, affine, residual, epsilon, relu)
        } else {
            composed_batch_norm(x, affine, residual, epsilon, relu)
        }
    }

    fn batch_norm_backward(
        saved: BatchNormSaved<Self>,
        gradient: Tensor<Self, 4>,
    ) -> BatchNormGradients<Self> {
        if gradient.dtype() == DType::F32 {
            batch_norm_gradient::backward(saved, gradient)
        } else {
            composed_batch_norm_backward(saved, gradient)
        }
    }

    fn scale_shift(
        x: Tensor<Self, 4>,
        scale: Tensor<Self, 1>,
        shift: Tensor<Self, 1>,
        residual: Option<Tensor<Self, 4>>,
        relu: bool,
    ) -> Tensor<Self, 4> {
        if x.dtype() == DType::F32 {
            batch_norm::scale_shift(x, [scale, shift], residual, relu)
        } else {
            composed::scale_shift(x, scale, shift, residual, relu)
        }
    }

    fn select_maxima(
        x: Tensor<Self, 4>,
        values: Tensor<Self, 4>,
        window: Window,
    ) -> Tensor<Self, 4> {
        if x.dtype() == DType::F32 {
            max_pool::select(x, values, window)
        } else {
            composed::select_maxima(x, values, window)
        }
    }

    fn scatter_maxima(
        x: Tensor<Self, 4>,
        gradient: Tensor<Self, 4>,
        window: Window,
    ) -> Tensor<Self, 4> {
        if x.dtype() == DType::F32 {
            max_pool::scatter(x, gradient, window)
        } else {
            composed::scatter_maxima(x, gradient, window)
        }
    }
}
