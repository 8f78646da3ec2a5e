//! Gradients of the convolution and of its two gradients.
//!
//! Each of the three is linear in both of its operands, and its gradient by either operand is one of
//! the other two.

use burn::backend::Autodiff;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::tensor::Tensor;

use super::super::backend::ImageBackend;
use super::super::window::Window;
use super::bilinear::{Bilinear, apply};

/// Geometry of a convolution.
#[derive(Debug, Clone, Copy)]
struct Geometry {
    window: Window,
    /// Sides `[h, w]` of the input images of the convolution.
    sides: [usize; 2],
}

/// The convolution, of an input and a weight.
#[derive(Debug)]
struct ConvolutionStep;

impl Bilinear<4> for ConvolutionStep {
    type Geometry = Geometry;

    fn by_first<B: ImageBackend>(
        gradient: Tensor<B, 4>,
        weight: Tensor<B, 4>,
        Geometry { window, sides }: Geometry,
    ) -> Tensor<B, 4> {
        B::convolution_input_gradient(gradient, weight, window, sides)
    }

    fn by_second<B: ImageBackend>(
        x: Tensor<B, 4>,
        gradient: Tensor<B, 4>,
        Geometry { window, .. }: Geometry,
    ) -> Tensor<B, 4> {
        B::convolution_weight_gradient(x, gradient, window)
    }

    fn by_both<B: ImageBackend>(
        x: Tensor<B, 4>,
        weight: Tensor<B, 4>,
        gradient: Tensor<B, 4>,
        Geometry { window, .. }: Geometry,
    ) -> [Tensor<B, 4>; 2] {
        B::convolution_gradients(x, weight, gradient, window)
    }
}

pub(super) fn convolution<B: ImageBackend, C: CheckpointStrategy>(
    x: Tensor<Autodiff<B, C>, 4>,
    weight: Tensor<Autodiff<B, C>, 4>,
    window: Window,
) -> Tensor<Autodiff<B, C>, 4> {
    let [_, height, width, _] = x.dims();
    let compute = |x, weight| B::convolution(x, weight, window);
    apply(
        ConvolutionStep,
        [x, weight],
        Geometry {
            window,
            sides: [height, width],
        },
        compute,
    )
}

/// The gradient by the input, of a gradient by the output and the weight.
#[derive(Debug)]
struct InputGradientStep;

impl Bilinear<4> for InputGradientStep {
    type Geometry = Geometry;

    fn by_first<B: ImageBackend>(
        x: Tensor<B, 4>,
        weight: Tensor<B, 4>,
        Geometry { window, .. }: Geometry,
    ) -> Tensor<B, 4> {
        B::convolution(x, weight, window)
    }

    fn by_second<B: ImageBackend>(
        gradient: Tensor<B, 4>,
        x: Tensor<B, 4>,
        Geometry { window, .. }: Geometry,
    ) -> Tensor<B, 4> {
        B::convolution_weight_gradient(x, gradient, window)
    }
}

pub(super) fn input_gradient<B: ImageBackend, C: CheckpointStrategy>(
    gradient: Tensor<Autodiff<B, C>, 4>,
    weight: Tensor<Autodiff<B, C>, 4>,
    window: Window,
    sides: [usize; 2],
) -> Tensor<Autodiff<B, C>, 4> {
    let compute = |gradient, weight| B::convolution_input_gradient(gradient, weight, window, sides);
    apply(
        InputGradientStep,
        [gradient, weight],
        Geometry { window, sides },
        compute,
    )
}

/// The gradient by the weight, of the input and a gradient by the output.
#[derive(Debug)]
struct WeightGradientStep;

impl Bilinear<4> for WeightGradientStep {
    type Geometry = Geometry;

    fn by_first<B: ImageBackend>(
        weight: Tensor<B, 4>,
        gradient: Tensor<B, 4>,
        Geometry { window, sides }: Geometry,
    ) -> Tensor<B, 4> {
        B::convolution_input_gradient(gradient, weight, window, sides)
    }

    fn by_second<B: ImageBackend>(
        x: Tensor<B, 4>,
        weight: Tensor<B, 4>,
        Geometry { window, .. }: Geometry,
    ) -> Tensor<B, 4> {
        B::convolution(x, weight, window)
    }
}

pub(super) fn weight_gradient<B: ImageBackend, C: CheckpointStrategy>(
    x: Tensor<Autodiff<B, C>, 4>,
    gradient: Tensor<Autodiff<B, C>, 4>,
    window: Window,
) -> Tensor<Autodiff<B, C>, 4> {
    let [_, height, width, _] = x.dims();
    let compute = |x, gradient| B::convolution_weight_gradient(x, gradient, window);
    apply(
        WeightGradientStep,
        [x, gradient],
        Geometry {
            window,
            sides: [height, width],
        },
        compute,
    )
}
