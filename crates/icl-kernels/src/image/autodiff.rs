//! Gradients of the operators, whichever kernels the inner backend has.
//!
//! They are computed by the same operators on the inner backend, so `Autodiff<Autodiff<B>>` computes second
//! derivatives.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor, backend::Backend};

use super::batch_norm::{batch_norm_backward, batch_norm_saving, gradients, statistics};
use super::convolution::{
    convolution, convolution_gradients, convolution_input_gradient, convolution_weight_gradient,
};
use super::dense_product::{
    dense_product, dense_product_input_gradient, dense_product_weight_gradient,
};
use super::kernels::{Image, Kernels};
use super::max_pool::{scatter_maxima, select_maxima};
use super::saved::{BatchNormGradients, BatchNormSaved};
use super::window::Window;
use crate::autodiff::{OfOperands, bilinear, bilinear_at_once, linear, record, unwrap, wrap};
use crate::backends::HasKernels;

impl<B: Backend> HasKernels<Image> for Autodiff<B> {
    fn kernels(_: DType) -> &'static Kernels<Self> {
        const {
            &Kernels {
                dense_product: Some(tracked_dense_product),
                dense_product_input_gradient: Some(tracked_dense_input_gradient),
                dense_product_weight_gradient: Some(tracked_dense_weight_gradient),
                convolution: Some(tracked_convolution),
                convolution_input_gradient: Some(tracked_input_gradient),
                convolution_weight_gradient: Some(tracked_weight_gradient),
                batch_norm_saving: Some(tracked_batch_norm),
                batch_norm_backward: Some(differentiable_gradients),
                select_maxima: Some(tracked_selection),
                scatter_maxima: Some(tracked_scattering),
                ..Kernels::NONE
            }
        }
    }
}

// A product, of rows or of patches, and its two gradients are each linear in both of their operands, and the gradient
// of each by either operand is one of the other two.

type Rows<B> = Tensor<Autodiff<B>, 2>;
type Images<B> = Tensor<Autodiff<B>, 4>;

fn tracked_dense_product<B: Backend>(x: Rows<B>, weight: Rows<B>) -> Rows<B> {
    bilinear(
        [x, weight],
        dense_product,
        dense_product_input_gradient,
        dense_product_weight_gradient,
    )
}

fn tracked_dense_input_gradient<B: Backend>(gradient: Rows<B>, weight: Rows<B>) -> Rows<B> {
    bilinear(
        [gradient, weight],
        dense_product_input_gradient,
        dense_product,
        |gradient, x| dense_product_weight_gradient(x, gradient),
    )
}

fn tracked_dense_weight_gradient<B: Backend>(x: Rows<B>, gradient: Rows<B>) -> Rows<B> {
    bilinear(
        [x, gradient],
        dense_product_weight_gradient,
        |weight, gradient| dense_product_input_gradient(gradient, weight),
        dense_product,
    )
}

fn tracked_convolution<B: Backend>(x: Images<B>, weight: Images<B>, window: Window) -> Images<B> {
    let [_, height, width, _] = x.dims();
    bilinear_at_once(
        [x, weight],
        |x, weight| convolution(x, weight, window),
        move |gradient, weight| {
            convolution_input_gradient(gradient, weight, window, [height, width])
        },
        move |x, gradient| convolution_weight_gradient(x, gradient, window),
        move |[x, weight], gradient| convolution_gradients(x, weight, gradient, window),
    )
}

fn tracked_input_gradient<B: Backend>(
    gradient: Images<B>,
    weight: Images<B>,
    window: Window,
    sides: [usize; 2],
) -> Images<B> {
    bilinear(
        [gradient, weight],
        |gradient, weight| convolution_input_gradient(gradient, weight, window, sides),
        move |x, weight| convolution(x, weight, window),
        move |gradient, x| convolution_weight_gradient(x, gradient, window),
    )
}

fn tracked_weight_gradient<B: Backend>(
    x: Images<B>,
    gradient: Images<B>,
    window: Window,
) -> Images<B> {
    let [_, height, width, _] = x.dims();
    bilinear(
        [x, gradient],
        |x, gradient| convolution_weight_gradient(x, gradient, window),
        move |weight, gradient| {
            convolution_input_gradient(gradient, weight, window, [height, width])
        },
        move |x, weight| convolution(x, weight, window),
    )
}

fn tracked_selection<B: Backend>(x: Images<B>, values: Images<B>, window: Window) -> Images<B> {
    let x = x.inner();
    let of = x.clone();
    linear(
        values,
        |values| select_maxima(x, values, window),
        move |gradient| scatter_maxima(of, gradient, window),
    )
}

fn tracked_scattering<B: Backend>(x: Images<B>, gradient: Images<B>, window: Window) -> Images<B> {
    let x = x.inner();
    let of = x.clone();
    linear(
        gradient,
        |gradient| scatter_maxima(x, gradient, window),
        move |values| select_maxima(of, values, window),
    )
}

fn tracked_batch_norm<B: Backend>(
    x: Images<B>,
    affine: [Tensor<Autodiff<B>, 1>; 2],
    residual: Option<Images<B>>,
    epsilon: f64,
    relu: bool,
) -> (Images<B>, BatchNormSaved<Autodiff<B>>) {
    let (input, weight) = (x.clone(), affine[0].clone());
    let x = unwrap(x);
    let [gamma, beta] = affine.map(unwrap);
    let residual = residual.map(unwrap);
    let (output, saved) = batch_norm_saving::<B>(
        wrap(x.primitive.clone()),
        [wrap(gamma.primitive.clone()), wrap(beta.primitive.clone())],
        residual.as_ref().map(|added| wrap(added.primitive.clone())),
        epsilon,
        relu,
    );
    let for_caller = BatchNormSaved {
        input,
        mean: Tensor::from_inner(saved.mean.clone()),
        scale: Tensor::from_inner(saved.scale.clone()),
        weight,
        rectified: saved.rectified.clone().map(Tensor::from_inner),
        has_residual: saved.has_residual,
        epsilon,
    };
    let output = match residual {
        Some(added) => record([x, gamma, beta, added], output, |gradient, _| {
            of_operands(batch_norm_backward(saved, wrap(gradient)))
        }),
        None => record([x, gamma, beta], output, |gradient, _| {
            let [x, gamma, beta, _] = of_operands(batch_norm_backward(saved, wrap(gradient)));
            [x, gamma, beta]
        }),
    };
    (output, for_caller)
}

/// Returns the gradients by the input, γ, β and the residual.
fn of_operands<B: Backend>(found: BatchNormGradients<B>) -> OfOperands<B, 4> {
    [
        Some(unwrap(found.input)),
        Some(unwrap(found.weight)),
        Some(unwrap(found.bias)),
        found.residual.map(unwrap),
    ]
}

/// Computes the gradients of batch normalisation in a form that can itself be differentiated: the saved statistics
/// carry no graph back to the input, so they are computed again.
fn differentiable_gradients<B: Backend>(
    saved: BatchNormSaved<Autodiff<B>>,
    gradient: Images<B>,
) -> BatchNormGradients<Autodiff<B>> {
    let [mean, scale] = statistics(&saved.input, saved.epsilon);
    let saved = BatchNormSaved {
        mean,
        scale,
        ..saved
    };
    gradients(saved, gradient)
}
