//! LibTorch's operators that are faster than the composed forms.
//!
//! In LibTorch, images `[n, h, w, c]` are images `[n, c, h, w]` in the memory format "channels last".

use burn::backend::LibTorch;
use burn::tensor::{DType, Tensor};

use super::convolution::pointwise_input_gradient;
use super::kernels::{Image, Kernels};
use super::saved::{BatchNormGradients, BatchNormSaved};
use super::window::Window;
use crate::backends::HasKernels;
use crate::libtorch::{handle, tensor};

const CHANNELS_FIRST: [i64; 4] = [0, 3, 1, 2];
const CHANNELS_LAST: [i64; 4] = [0, 2, 3, 1];

impl HasKernels<Image> for LibTorch {
    fn kernels(dtype: DType) -> &'static Kernels<Self> {
        const ANY: &Kernels<LibTorch> = &Kernels {
            convolution: Some(convolution),
            convolution_input_gradient: Some(convolution_input_gradient),
            convolution_weight_gradient: Some(convolution_weight_gradient),
            convolution_gradients: Some(convolution_gradients),
            max_pool: Some(max_pool),
            scatter_maxima: Some(scatter_maxima),
            ..Kernels::NONE
        };
        const FULL_PRECISION: &Kernels<LibTorch> = &Kernels {
            batch_norm_saving: Some(batch_norm_saving),
            batch_norm_backward: Some(batch_norm_backward),
            ..*ANY
        };
        match dtype {
            DType::F32 | DType::F64 => FULL_PRECISION,
            _ => ANY,
        }
    }
}

fn convolution(
    x: Tensor<LibTorch, 4>,
    weight: Tensor<LibTorch, 4>,
    window: Window,
) -> Tensor<LibTorch, 4> {
    let y = convolve(&handle(x), &handle(weight), window);
    tensor(y.permute(CHANNELS_LAST))
}

fn convolution_input_gradient(
    gradient: Tensor<LibTorch, 4>,
    weight: Tensor<LibTorch, 4>,
    window: Window,
    sides: [usize; 2],
) -> Tensor<LibTorch, 4> {
    if window.is_pixel() {
        return pointwise_input_gradient(gradient, weight, window.stride, sides);
    }
    let by_input = convolve_transposed(&handle(gradient), &handle(weight), window, sides);
    tensor(by_input.permute(CHANNELS_LAST))
}

fn convolution_weight_gradient(
    x: Tensor<LibTorch, 4>,
    gradient: Tensor<LibTorch, 4>,
    window: Window,
) -> Tensor<LibTorch, 4> {
    let (x, gradient) = (handle(x), handle(gradient));
    if window.is_pixel() {
        return tensor(pointwise_weight_gradient(&x, &gradient, window));
    }
    let c_in = x.size()[3];
    let c_out = gradient.size()[3];
    let size = window.size as i64;
    // The convolution is linear in its weight: the gradient is the same at every weight.
    let weight = tch::Tensor::zeros([c_out, c_in, size, size], (x.kind(), x.device()));
    let weight = weight.set_requires_grad(true);
    let y = tch::with_grad(|| convolve(&x, &weight, window));
    tensor(gradient_of_product(&y, &gradient, &weight))
}

/// `tch` offers LibTorch's gradient of a convolution by its weight only through LibTorch's own autodiff, as that of an
/// operator that was applied. Here the transposed convolution, which is the gradient by the input, is such an operator:
///
/// ```text
/// ∂⟨gradient, convolution(x, weight)⟩/∂weight = ∂⟨gradient by the input, x⟩/∂weight
/// ```
fn convolution_gradients(
    x: Tensor<LibTorch, 4>,
    weight: Tensor<LibTorch, 4>,
    gradient: Tensor<LibTorch, 4>,
    window: Window,
) -> [Tensor<LibTorch, 4>; 2] {
    let [_, height, width, _] = x.dims();
    if window.is_pixel() {
        let by_weight = convolution_weight_gradient(x, gradient.clone(), window);
        let sides = [height, width];
        let by_input = convolution_input_gradient(gradient, weight, window, sides);
        return [by_input, by_weight];
    }
    let weight = handle(weight).detach().set_requires_grad(true);
    let gradient = handle(gradient);
    let by_input =
        tch::with_grad(|| convolve_transposed(&gradient, &weight, window, [height, width]));
    let by_weight = gradient_of_product(&by_input, &handle(x), &weight);
    [by_input.detach().permute(CHANNELS_LAST), by_weight].map(tensor)
}

fn batch_norm_saving(
    x: Tensor<LibTorch, 4>,
    affine: [Tensor<LibTorch, 1>; 2],
    residual: Option<Tensor<LibTorch, 4>>,
    epsilon: f64,
    relu: bool,
) -> (Tensor<LibTorch, 4>, BatchNormSaved<LibTorch>) {
    let input = handle(x.clone());
    let weight = affine[0].clone();
    let [gamma, beta] = affine.map(handle);
    let rows = in_one_matrix(&input);
    let mean = mean_of_columns(&rows);
    // The squares are in the memory of the result, since every new tensor of this size costs as much as a pass.
    let mut y = &rows - &mean;
    let scale = (mean_of_columns(&y.square_()) + epsilon).rsqrt();
    let _ = rows.sub_out(&y, &mean);
    let _ = y.g_mul_(&(gamma * &scale));
    let _ = y.g_add_(&beta);
    let mut y = y.reshape(input.size());
    let has_residual = residual.is_some();
    if let Some(residual) = residual {
        let _ = y.g_add_(&handle(residual));
    }
    if relu {
        let _ = y.relu_();
    }
    let y = tensor(y);
    let saved = BatchNormSaved {
        input: x,
        mean: tensor(mean),
        scale: tensor(scale),
        weight,
        rectified: relu.then(|| y.clone()),
        has_residual,
        epsilon,
    };
    (y, saved)
}

fn batch_norm_backward(
    saved: BatchNormSaved<LibTorch>,
    gradient: Tensor<LibTorch, 4>,
) -> BatchNormGradients<LibTorch> {
    let input = handle(saved.input.clone());
    let gradient = match saved.rectified {
        Some(y) => {
            let gradient = handle(gradient).contiguous();
            tensor(handle(y).threshold_backward(&gradient, 0.0))
        }
        None => gradient,
    };
    let gradients = in_one_matrix(&handle(gradient.clone()));
    let [mean, scale, weight] = [saved.mean, saved.scale, saved.weight].map(handle);
    let n_rows = gradients.size()[0] as f64;
    let by_bias = mean_of_columns(&gradients);
    let rows = in_one_matrix(&input);
    let mut centred = &rows - &mean;
    // In the same memory until the end, as in the forward pass.
    let _ = centred.g_mul_(&gradients);
    let by_normal = mean_of_columns(&centred) * &scale;
    let _ = rows.sub_out(&centred, &mean);
    let _ = centred.g_mul_(&-(&by_normal * &scale));
    let _ = centred.g_add_(&gradients);
    let _ = centred.g_sub_(&by_bias);
    let _ = centred.g_mul_(&(scale * weight));
    BatchNormGradients {
        input: tensor(centred.reshape(input.size())),
        weight: tensor(by_normal * n_rows),
        bias: tensor(by_bias * n_rows),
        residual: saved.has_residual.then_some(gradient),
    }
}

fn max_pool(x: Tensor<LibTorch, 4>, window: Window) -> Tensor<LibTorch, 4> {
    let (maxima, _) = maxima(&handle(x).permute(CHANNELS_FIRST), window);
    tensor(maxima.permute(CHANNELS_LAST))
}

fn scatter_maxima(
    x: Tensor<LibTorch, 4>,
    gradient: Tensor<LibTorch, 4>,
    window: Window,
) -> Tensor<LibTorch, 4> {
    let x = handle(x).permute(CHANNELS_FIRST);
    let (_, positions) = maxima(&x, window);
    let [size, stride, padding] = sides(window);
    let gradient = handle(gradient).permute(CHANNELS_FIRST);
    let scattered = x.max_pool2d_with_indices_backward(
        &gradient,
        [size; 2],
        [stride; 2],
        [padding; 2],
        [1, 1],
        false,
        &positions,
    );
    tensor(scattered.permute(CHANNELS_LAST))
}
/// Computes the convolution `[n, c_out, h′, w′]` of `x` `[n, h, w, c_in]`, channels last in memory.
fn convolve(x: &tch::Tensor, weight: &tch::Tensor, window: Window) -> tch::Tensor {
    let [_, stride, padding] = sides(window);
    let bias = None::<tch::Tensor>;
    images(x).conv2d(weight, bias, [stride; 2], [padding; 2], [1, 1], 1)
}

/// Computes the gradient `[n, c_in, h, w]` of a convolution by its input of the sides `[h, w]`, from the `gradient`
/// `[n, h′, w′, c_out]` by its output.
fn convolve_transposed(
    gradient: &tch::Tensor,
    weight: &tch::Tensor,
    window: Window,
    input: [usize; 2],
) -> tch::Tensor {
    let [size, stride, padding] = sides(window);
    // Pixels at the end that no window of the convolution reaches.
    let left_over = input.map(|side| (side as i64 + 2 * padding - size) % stride);
    images(gradient).conv_transpose2d(
        weight,
        None::<tch::Tensor>,
        [stride; 2],
        [padding; 2],
        left_over,
        1,
        [1, 1],
    )
}

/// Computes the gradient `[c_out, c_in, 1, 1]` of a pointwise convolution by its weight, which is the product of two
/// matrices.
fn pointwise_weight_gradient(
    x: &tch::Tensor,
    gradient: &tch::Tensor,
    window: Window,
) -> tch::Tensor {
    let stride = window.stride as i64;
    let passed = x.slice(1, None, None, stride).slice(2, None, None, stride);
    let product = in_one_matrix(gradient).tr().matmul(&in_one_matrix(&passed));
    product.unsqueeze(2).unsqueeze(3)
}

/// Computes the gradient by `weight` of the inner product of `y` `[n, c, h, w]`, which depends on it, and the constant
/// `images` `[n, h, w, c]`.
fn gradient_of_product(y: &tch::Tensor, images: &tch::Tensor, weight: &tch::Tensor) -> tch::Tensor {
    let product = tch::with_grad(|| {
        let values = y.permute(CHANNELS_LAST).reshape([-1]);
        values.dot(&images.reshape([-1]))
    });
    let mut gradients = tch::Tensor::run_backward(&[product], &[weight], false, false);
    gradients.remove(0)
}

/// Returns `x` `[n, h, w, c]` as LibTorch's images `[n, c, h, w]`, channels last in memory: images that were permuted
/// from channels first would keep all layers in that format.
fn images(x: &tch::Tensor) -> tch::Tensor {
    x.contiguous().permute(CHANNELS_FIRST)
}

/// Returns the maximum of each window of `x` `[n, c, h, w]`, and its position.
fn maxima(x: &tch::Tensor, window: Window) -> (tch::Tensor, tch::Tensor) {
    let [size, stride, padding] = sides(window);
    x.max_pool2d_with_indices([size; 2], [stride; 2], [padding; 2], [1, 1], false)
}

fn sides(window: Window) -> [i64; 3] {
    [window.size, window.stride, window.padding].map(|pixels| pixels as i64)
}

/// Returns images `[n, h, w, c]` as a matrix `[n·h·w, c]`.
fn in_one_matrix(images: &tch::Tensor) -> tch::Tensor {
    let channels = images.size()[3];
    images.contiguous().reshape([-1, channels])
}

fn mean_of_columns(x: &tch::Tensor) -> tch::Tensor {
    x.mean_dim([0_i64].as_slice(), false, None)
}
