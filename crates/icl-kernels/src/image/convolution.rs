//! The convolution, and its gradients.

use burn::tensor::module::conv2d;
use burn::tensor::ops::{ConvOptions, FloatTensor};
use burn::tensor::{Tensor, TensorPrimitive, backend::Backend};

use super::kernels::kernels;
use super::window::{Window, channels_first, channels_last};

/// Computes the convolution `[n, h′, w′, c_out]` of `x` `[n, h, w, c_in]` by `weight`
/// `[c_out, c_in, size, size]`, without bias.
pub fn convolution<B: Backend>(
    x: Tensor<B, 4>,
    weight: Tensor<B, 4>,
    window: Window,
) -> Tensor<B, 4> {
    if let Some(kernel) = kernels::<B>(x.dtype()).convolution {
        return kernel(x, weight, window);
    }
    channels_last(conv2d(channels_first(x), weight, None, options(window)))
}

/// Computes the gradient of [`convolution`] by its input `[n, h, w, c_in]` of `sides` `[h, w]`, given the
/// `gradient` by its output `[n, h′, w′, c_out]`.
pub fn convolution_input_gradient<B: Backend>(
    gradient: Tensor<B, 4>,
    weight: Tensor<B, 4>,
    window: Window,
    sides: [usize; 2],
) -> Tensor<B, 4> {
    if let Some(kernel) = kernels::<B>(gradient.dtype()).convolution_input_gradient {
        return kernel(gradient, weight, window, sides);
    }
    if window.is_pixel() {
        return pointwise_input_gradient(gradient, weight, window.stride, sides);
    }
    let ([n, ..], [_, c_in, ..], [height, width]) = (gradient.dims(), weight.dims(), sides);
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

/// Computes the gradient by the input for a weight of one pixel: a product of matrices, with zeros at the
/// pixels that the stride passes over. Burn 0.21 computes it as a transposed convolution, whose CubeCL kernel
/// returns 0 everywhere if the stride is larger than the weight (found on Vulkan).
pub(super) fn pointwise_input_gradient<B: Backend>(
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

/// Computes the gradient of [`convolution`] by its weight `[c_out, c_in, size, size]`, given the `gradient` by
/// its output `[n, h′, w′, c_out]`.
pub fn convolution_weight_gradient<B: Backend>(
    x: Tensor<B, 4>,
    gradient: Tensor<B, 4>,
    window: Window,
) -> Tensor<B, 4> {
    if let Some(kernel) = kernels::<B>(gradient.dtype()).convolution_weight_gradient {
        return kernel(x, gradient, window);
    }
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

/// Computes the gradients of [`convolution`] by its input `x` `[n, h, w, c_in]` and by its `weight`
/// `[c_out, c_in, size, size]`, given the `gradient` by its output `[n, h′, w′, c_out]`.
pub fn convolution_gradients<B: Backend>(
    x: Tensor<B, 4>,
    weight: Tensor<B, 4>,
    gradient: Tensor<B, 4>,
    window: Window,
) -> [Tensor<B, 4>; 2] {
    if let Some(kernel) = kernels::<B>(gradient.dtype()).convolution_gradients {
        return kernel(x, weight, gradient, window);
    }
    let [_, height, width, _] = x.dims();
    let by_weight = convolution_weight_gradient(x, gradient.clone(), window);
    let by_input = convolution_input_gradient(gradient, weight, window, [height, width]);
    [by_input, by_weight]
}

fn options(window: Window) -> ConvOptions<2> {
    ConvOptions::new([window.stride; 2], [window.padding; 2], [1; 2], 1)
}

fn wrap<B: Backend>(x: FloatTensor<B>) -> Tensor<B, 4> {
    Tensor::from_primitive(TensorPrimitive::Float(x))
}

fn unwrap<B: Backend>(x: Tensor<B, 4>) -> FloatTensor<B> {
    x.into_primitive().tensor()
}
