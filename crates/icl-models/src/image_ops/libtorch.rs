//! LibTorch's operators that are faster than the composed forms.
//!
//! In LibTorch, images `[n, h, w, c]` are images `[n, c, h, w]` in the memory format "channels last".

use burn::backend::LibTorch;
use burn::backend::libtorch::TchElement;
use burn::tensor::Tensor;

use super::backend::ImageBackend;
use super::batch_norm::{
    BatchNormGradients, BatchNormSaved, composed_batch_norm, composed_batch_norm_backward,
};
use super::composed;
use super::window::Window;
use crate::libtorch::{handle, tensor};

/// Number of values of the patches that are multiplied at once: 4 MiB, which stay in the cache.
const AT_ONCE: i64 = 1 << 20;

const CHANNELS_FIRST: [i64; 4] = [0, 3, 1, 2];
const CHANNELS_LAST: [i64; 4] = [0, 2, 3, 1];

impl<E: TchElement> ImageBackend for LibTorch<E> {
    fn convolution(x: Tensor<Self, 4>, weight: Tensor<Self, 4>, window: Window) -> Tensor<Self, 4> {
        // Images that were permuted from channels first would keep all layers in that format.
        let x = handle(x).contiguous().permute(CHANNELS_FIRST);
        let [stride, padding] = [window.stride, window.padding].map(|pixels| pixels as i64);
        let y = x.conv2d(
            &handle(weight),
            None::<tch::Tensor>,
            [stride; 2],
            [padding; 2],
            [1, 1],
            1,
        );
        tensor(y.permute(CHANNELS_LAST))
    }

    fn convolution_input_gradient(
        gradient: Tensor<Self, 4>,
        weight: Tensor<Self, 4>,
        window: Window,
        sides: [usize; 2],
    ) -> Tensor<Self, 4> {
        composed::convolution_input_gradient(in_rows(gradient), weight, window, sides)
    }

    /// On a CPU the patches of some images at a time are multiplied by their gradients. Burn's form, a convolution whose window is as
    /// large as the images, took two to four times as long.
    fn convolution_weight_gradient(
        x: Tensor<Self, 4>,
        gradient: Tensor<Self, 4>,
        window: Window,
    ) -> Tensor<Self, 4> {
        let (images, gradients) = (handle(x.clone()), handle(gradient.clone()));
        if images.device() != tch::Device::Cpu {
            return composed::convolution_weight_gradient(x, gradient, window);
        }
        tensor(patches_by_gradients(&images, &gradients, window))
    }

    fn batch_norm_saving(
        x: Tensor<Self, 4>,
        affine: [Tensor<Self, 1>; 2],
        residual: Option<Tensor<Self, 4>>,
        epsilon: f64,
        relu: bool,
    ) -> (Tensor<Self, 4>, BatchNormSaved<Self>) {
        let input = handle(x.clone());
        if !is_full_precision(&input) {
            return composed_batch_norm(x, affine, residual, epsilon, relu);
        }
        let weight = affine[0].clone();
        let [gamma, beta] = affine.map(handle);
        let rows = in_one_matrix(&input);
        let mean = mean_of_columns(&rows);
        let mut y = rows - &mean;
        let scale = (mean_of_columns(&y.square()) + epsilon).rsqrt();
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
        saved: BatchNormSaved<Self>,
        gradient: Tensor<Self, 4>,
    ) -> BatchNormGradients<Self> {
        let input = handle(saved.input.clone());
        if !is_full_precision(&input) {
            return composed_batch_norm_backward(saved, gradient);
        }
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
        let mut centred = in_one_matrix(&input) - mean;
        let by_centred = mean_of_columns(&(&gradients * &centred));
        let by_normal = &by_centred * &scale;
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

    fn max_pool(x: Tensor<Self, 4>, window: Window) -> Tensor<Self, 4> {
        let (maxima, _) = maxima(&handle(x).permute(CHANNELS_FIRST), window);
        tensor(maxima.permute(CHANNELS_LAST))
    }

    fn scatter_maxima(
        x: Tensor<Self, 4>,
        gradient: Tensor<Self, 4>,
        window: Window,
    ) -> Tensor<Self, 4> {
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
}

/// Computes the gradient `[c_out, c_in, size, size]` by the weight, from `images` `[n, h, w, c_in]` and the `gradients` by the
/// outputs `[n, h′, w′, c_out]`.
fn patches_by_gradients(
    images: &tch::Tensor,
    gradients: &tch::Tensor,
    window: Window,
) -> tch::Tensor {
    let [size, stride, padding] = sides(window);
    let around = [0, 0, padding, padding, padding, padding];
    let images = images.contiguous().constant_pad_nd(around);
    let gradients = gradients.contiguous();
    let [
        (n, height, width, c_out),
        (_, padded_height, padded_width, c_in),
    ] = [&gradients, &images].map(|x| x.size4().expect("images have four dimensions"));
    let row = padded_width * c_in;
    let patch = size * size * c_in;
    let mut sums = tch::Tensor::zeros([c_out, patch], (images.kind(), images.device()));
    let images_at_once = (AT_ONCE / (height * width * patch)).max(1);
    for first in (0..n).step_by(images_at_once as usize) {
        let n = images_at_once.min(n - first);
        let patches = images.as_strided(
            [n, height, width, size, size * c_in],
            [padded_height * row, stride * row, stride * c_in, row, 1],
            first * padded_height * row,
        );
        let gradients = gradients.narrow(0, first, n).reshape([-1, c_out]);
        let _ = sums.addmm_(&gradients.tr(), &patches.reshape([-1, patch]));
    }
    let sums = sums.reshape([c_out, size, size, c_in]);
    sums.permute(CHANNELS_FIRST).contiguous()
}

/// Returns the maximum of each window of `x` `[n, c, h, w]`, and its position.
fn maxima(x: &tch::Tensor, window: Window) -> (tch::Tensor, tch::Tensor) {
    let [size, stride, padding] = sides(window);
    x.max_pool2d_with_indices([size; 2], [stride; 2], [padding; 2], [1, 1], false)
}

fn sides(window: Window) -> [i64; 3] {
    [window.size, window.stride, window.padding].map(|pixels| pixels as i64)
}

/// Copies images whose channels are not side by side.
fn in_rows<E: TchElement>(x: Tensor<LibTorch<E>, 4>) -> Tensor<LibTorch<E>, 4> {
    let images = handle(x.clone());
    if images.is_contiguous() {
        x
    } else {
        tensor(images.contiguous())
    }
}

/// Returns images `[n, h, w, c]` as a matrix `[n·h·w, c]`.
fn in_one_matrix(images: &tch::Tensor) -> tch::Tensor {
    let channels = images.size()[3];
    images.contiguous().reshape([-1, channels])
}

fn mean_of_columns(x: &tch::Tensor) -> tch::Tensor {
    x.mean_dim([0_i64].as_slice(), false, None)
}

fn is_full_precision(x: &tch::Tensor) -> bool {
    matches!(x.kind(), tch::Kind::Float | tch::Kind::Double)
}
