//! The operators as compositions of Burn's own, for any backend.

use burn::tensor::activation::relu;
use burn::tensor::module::conv2d;
use burn::tensor::ops::{ConvOptions, FloatTensor};
use burn::tensor::{IndexingUpdateOp, Int, Tensor, TensorPrimitive, backend::Backend};

use super::window::Window;

pub(super) fn convolution<B: Backend>(
    x: Tensor<B, 4>,
    weight: Tensor<B, 4>,
    window: Window,
) -> Tensor<B, 4> {
    channels_last(conv2d(channels_first(x), weight, None, options(window)))
}

pub(super) fn convolution_input_gradient<B: Backend>(
    gradient: Tensor<B, 4>,
    weight: Tensor<B, 4>,
    window: Window,
    [height, width]: [usize; 2],
) -> Tensor<B, 4> {
    if window.size == 1 && window.padding == 0 {
        return pointwise_input_gradient(gradient, weight, window.stride, [height, width]);
    }
    let [[n, ..], [_, c_in, ..]] = [gradient.dims(), weight.dims()];
    // Burn uses the shape of the input alone.
    let shape_only = Tensor::<B, 4>::zeros(
        [n, c_in, height, width],
        (&gradient.device(), gradient.dtype()),
    );
    channels_last(wrap(B::conv2d_x_backward(
        unwrap(shape_only),
        unwrap(weight),
        unwrap(channels_first(gradient)),
        options(window),
    )))
}

/// The gradient by the input for a weight of one pixel: a product of matrices, with zeros at the pixels
/// that the stride passes over. Burn 0.21 computes it as a transposed convolution, whose CubeCL kernel
/// returns 0 everywhere if the stride is larger than the weight (found on Vulkan).
fn pointwise_input_gradient<B: Backend>(
    gradient: Tensor<B, 4>,
    weight: Tensor<B, 4>,
    stride: usize,
    [height, width]: [usize; 2],
) -> Tensor<B, 4> {
    let [n, rows, columns, c_out] = gradient.dims();
    let [_, c_in, ..] = weight.dims();
    let product = gradient
        .reshape([n * rows * columns, c_out])
        .matmul(weight.reshape([c_out, c_in]));
    if stride == 1 {
        return product.reshape([n, height, width, c_in]);
    }
    let zeros = Tensor::<B, 6>::zeros(
        [n, rows, stride, columns, stride, c_in],
        (&product.device(), product.dtype()),
    );
    let strided = [0..n, 0..rows, 0..1, 0..columns, 0..1, 0..c_in];
    zeros
        .slice_assign(strided, product.reshape([n, rows, 1, columns, 1, c_in]))
        .reshape([n, rows * stride, columns * stride, c_in])
        .slice([0..n, 0..height, 0..width, 0..c_in])
}

pub(super) fn convolution_weight_gradient<B: Backend>(
    x: Tensor<B, 4>,
    gradient: Tensor<B, 4>,
    window: Window,
) -> Tensor<B, 4> {
    let [[.., c_in], [.., c_out]] = [x.dims(), gradient.dims()];
    // Burn uses the shape of the weight alone.
    let shape_only = Tensor::<B, 4>::zeros(
        [c_out, c_in, window.size, window.size],
        (&x.device(), x.dtype()),
    );
    wrap(B::conv2d_weight_backward(
        unwrap(channels_first(x)),
        unwrap(shape_only),
        unwrap(channels_first(gradient)),
        options(window),
    ))
}

pub(super) fn scale_shift<B: Backend>(
    x: Tensor<B, 4>,
    scale: Tensor<B, 1>,
    shift: Tensor<B, 1>,
    residual: Option<Tensor<B, 4>>,
    relu: bool,
) -> Tensor<B, 4> {
    rectified(x * scale.unsqueeze() + shift.unsqueeze(), residual, relu)
}

/// Adds `residual` if there is one, and applies ReLU if `rectify` is true.
pub(super) fn rectified<B: Backend>(
    x: Tensor<B, 4>,
    residual: Option<Tensor<B, 4>>,
    rectify: bool,
) -> Tensor<B, 4> {
    let y = match residual {
        Some(residual) => x + residual,
        None => x,
    };
    if rectify { relu(y) } else { y }
}

pub(super) fn select_maxima<B: Backend>(
    x: Tensor<B, 4>,
    values: Tensor<B, 4>,
    window: Window,
) -> Tensor<B, 4> {
    let [n, height, width, channels] = x.dims();
    let (sides, positions) = maxima(x, window);
    let selected = channels_first(values)
        .reshape([n, channels, height * width])
        .gather(2, positions);
    channels_last(selected.reshape([n, channels, sides[0], sides[1]]))
}

pub(super) fn scatter_maxima<B: Backend>(
    x: Tensor<B, 4>,
    gradient: Tensor<B, 4>,
    window: Window,
) -> Tensor<B, 4> {
    let [n, height, width, channels] = x.dims();
    let (sides, positions) = maxima(x, window);
    let zeros = Tensor::<B, 3>::zeros(
        [n, channels, height * width],
        (&gradient.device(), gradient.dtype()),
    );
    let gradient = channels_first(gradient).reshape([n, channels, sides[0] * sides[1]]);
    let scattered = zeros.scatter(2, positions, gradient, IndexingUpdateOp::Add);
    channels_last(scattered.reshape([n, channels, height, width]))
}

/// Returns the sides of the output, and the position of each first maximum on the h·w grid
/// `[n, c, h′·w′]`.
fn maxima<B: Backend>(x: Tensor<B, 4>, window: Window) -> ([usize; 2], Tensor<B, 3, Int>) {
    let [n, height, width, channels] = x.dims();
    let sides = [window.output(height), window.output(width)];
    let found = B::max_pool2d_with_indices(
        unwrap(channels_first(x)),
        [window.size; 2],
        [window.stride; 2],
        [window.padding; 2],
        [1; 2],
        false,
    );
    let positions = Tensor::<B, 4, Int>::from_primitive(found.indices);
    (sides, positions.reshape([n, channels, sides[0] * sides[1]]))
}

fn options(window: Window) -> ConvOptions<2> {
    ConvOptions::new([window.stride; 2], [window.padding; 2], [1; 2], 1)
}

fn channels_first<B: Backend>(x: Tensor<B, 4>) -> Tensor<B, 4> {
    x.permute([0, 3, 1, 2])
}

fn channels_last<B: Backend>(x: Tensor<B, 4>) -> Tensor<B, 4> {
    x.permute([0, 2, 3, 1])
}

fn wrap<B: Backend>(x: FloatTensor<B>) -> Tensor<B, 4> {
    Tensor::from_primitive(TensorPrimitive::Float(x))
}

fn unwrap<B: Backend>(x: Tensor<B, 4>) -> FloatTensor<B> {
    x.into_primitive().tensor()
}
