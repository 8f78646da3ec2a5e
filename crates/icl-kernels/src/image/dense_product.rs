//! The product of rows with a weight, and its gradients: the convolution of images of one pixel.

use burn::tensor::{Tensor, backend::Backend};

use super::kernels::kernels;

/// Computes the product `[n, d_output]` of rows `x` `[n, d_input]` by `weight` `[d_input, d_output]`.
pub fn dense_product<B: Backend>(x: Tensor<B, 2>, weight: Tensor<B, 2>) -> Tensor<B, 2> {
    match kernels::<B>(x.dtype()).dense_product {
        Some(kernel) => kernel(x, weight),
        None => x.matmul(weight),
    }
}

/// Computes the gradient of [`dense_product`] by its rows `[n, d_input]`, given the `gradient` by its output
/// `[n, d_output]`.
pub fn dense_product_input_gradient<B: Backend>(
    gradient: Tensor<B, 2>,
    weight: Tensor<B, 2>,
) -> Tensor<B, 2> {
    match kernels::<B>(gradient.dtype()).dense_product_input_gradient {
        Some(kernel) => kernel(gradient, weight),
        None => gradient.matmul(weight.transpose()),
    }
}

/// Computes the gradient of [`dense_product`] by its weight `[d_input, d_output]`, given the `gradient` by its
/// output `[n, d_output]`.
pub fn dense_product_weight_gradient<B: Backend>(
    x: Tensor<B, 2>,
    gradient: Tensor<B, 2>,
) -> Tensor<B, 2> {
    match kernels::<B>(gradient.dtype()).dense_product_weight_gradient {
        Some(kernel) => kernel(x, gradient),
        None => x.transpose().matmul(gradient),
    }
}
