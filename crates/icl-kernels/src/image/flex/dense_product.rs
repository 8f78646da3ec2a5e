//! The product of rows with a weight and its gradients, by the kernels of convolutions.
//!
//! Rows are images of one pixel with d channels. A weight `[d_input, d_output]` of rows is then the weight
//! `[c_out, c_in, 1, 1]` of a convolution *back* from `d_output` to `d_input` channels: the product is the
//! gradient of that convolution by its input, and the gradient by the rows is the convolution. So nothing
//! is transposed in memory.

use burn::tensor::Tensor;
use burn_flex::Flex;

use super::super::window::Window;
use super::{product, weight_gradient};

/// The window of one pixel.
const PIXEL: Window = Window {
    size: 1,
    stride: 1,
    padding: 0,
};

/// Computes x·W.
pub(super) fn dense_product(x: Tensor<Flex, 2>, weight: Tensor<Flex, 2>) -> Tensor<Flex, 2> {
    let [[n, _], [_, d_output]] = [x.dims(), weight.dims()];
    product::input_gradient(pixels(x), weight_of_pixel(weight), PIXEL, [1, 1])
        .reshape([n, d_output])
}

/// Computes gradient·Wᵀ.
pub(super) fn input_gradient(
    gradient: Tensor<Flex, 2>,
    weight: Tensor<Flex, 2>,
) -> Tensor<Flex, 2> {
    let [[n, _], [d_input, _]] = [gradient.dims(), weight.dims()];
    product::convolution(pixels(gradient), weight_of_pixel(weight), PIXEL).reshape([n, d_input])
}

/// Computes xᵀ·gradient.
pub(super) fn by_weight(x: Tensor<Flex, 2>, gradient: Tensor<Flex, 2>) -> Tensor<Flex, 2> {
    let [[_, d_input], [_, d_output]] = [x.dims(), gradient.dims()];
    weight_gradient::weight_gradient(pixels(gradient), pixels(x), PIXEL)
        .reshape([d_input, d_output])
}

fn pixels(rows: Tensor<Flex, 2>) -> Tensor<Flex, 4> {
    let [n, d] = rows.dims();
    rows.reshape([n, 1, 1, d])
}

fn weight_of_pixel(weight: Tensor<Flex, 2>) -> Tensor<Flex, 4> {
    let [d_input, d_output] = weight.dims();
    weight.reshape([d_input, d_output, 1, 1])
}
