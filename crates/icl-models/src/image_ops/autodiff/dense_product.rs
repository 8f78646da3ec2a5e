//! Gradients of the product of rows with a weight and of its two gradients.
//!
//! Each of the three is linear in both of its operands, and its gradient by either operand is one of
//! the other two.

use burn::backend::Autodiff;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::tensor::Tensor;

use super::super::backend::ImageBackend;
use super::bilinear::{Bilinear, apply};

/// The product, of rows and a weight.
#[derive(Debug)]
struct ProductStep;

impl Bilinear<2> for ProductStep {
    type Geometry = ();

    fn by_first<B: ImageBackend>(
        gradient: Tensor<B, 2>,
        weight: Tensor<B, 2>,
        (): (),
    ) -> Tensor<B, 2> {
        B::dense_product_input_gradient(gradient, weight)
    }

    fn by_second<B: ImageBackend>(x: Tensor<B, 2>, gradient: Tensor<B, 2>, (): ()) -> Tensor<B, 2> {
        B::dense_product_weight_gradient(x, gradient)
    }
}

pub(super) fn product<B: ImageBackend, C: CheckpointStrategy>(
    x: Tensor<Autodiff<B, C>, 2>,
    weight: Tensor<Autodiff<B, C>, 2>,
) -> Tensor<Autodiff<B, C>, 2> {
    apply(ProductStep, [x, weight], (), B::dense_product)
}

/// The gradient by the rows, of a gradient by the output and the weight.
#[derive(Debug)]
struct InputGradientStep;

impl Bilinear<2> for InputGradientStep {
    type Geometry = ();

    fn by_first<B: ImageBackend>(x: Tensor<B, 2>, weight: Tensor<B, 2>, (): ()) -> Tensor<B, 2> {
        B::dense_product(x, weight)
    }

    fn by_second<B: ImageBackend>(gradient: Tensor<B, 2>, x: Tensor<B, 2>, (): ()) -> Tensor<B, 2> {
        B::dense_product_weight_gradient(x, gradient)
    }
}

pub(super) fn input_gradient<B: ImageBackend, C: CheckpointStrategy>(
    gradient: Tensor<Autodiff<B, C>, 2>,
    weight: Tensor<Autodiff<B, C>, 2>,
) -> Tensor<Autodiff<B, C>, 2> {
    let compute = B::dense_product_input_gradient;
    apply(InputGradientStep, [gradient, weight], (), compute)
}

/// The gradient by the weight, of the rows and a gradient by the output.
#[derive(Debug)]
struct WeightGradientStep;

impl Bilinear<2> for WeightGradientStep {
    type Geometry = ();

    fn by_first<B: ImageBackend>(
        weight: Tensor<B, 2>,
        gradient: Tensor<B, 2>,
        (): (),
    ) -> Tensor<B, 2> {
        B::dense_product_input_gradient(gradient, weight)
    }

    fn by_second<B: ImageBackend>(x: Tensor<B, 2>, weight: Tensor<B, 2>, (): ()) -> Tensor<B, 2> {
        B::dense_product(x, weight)
    }
}

pub(super) fn weight_gradient<B: ImageBackend, C: CheckpointStrategy>(
    x: Tensor<Autodiff<B, C>, 2>,
    gradient: Tensor<Autodiff<B, C>, 2>,
) -> Tensor<Autodiff<B, C>, 2> {
    let compute = B::dense_product_weight_gradient;
    apply(WeightGradientStep, [x, gradient], (), compute)
}
