//! Gradients of the convolution and of its two gradients.
//!
//! Each of the three is linear in both of its operands, and its gradient by either operand is one of
//! the other two. An operand is kept only if the gradient by the other is needed.

use burn::backend::Autodiff;
use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops};
use burn::tensor::Tensor;

use super::super::backend::ImageBackend;
use super::super::window::Window;
use crate::backward_step::{record, register, unwrap, wrap};

/// Operands that the backward pass needs, and the geometry.
#[derive(Debug, Clone)]
struct Operands<B: ImageBackend> {
    first: Option<Tensor<B, 4>>,
    second: Option<Tensor<B, 4>>,
    window: Window,
    /// Sides `[h, w]` of the input images of the convolution.
    sides: [usize; 2],
}

/// One of the three operators, given by its gradients.
trait Bilinear: Send + Sync + std::fmt::Debug + 'static {
    /// Computes the gradient by the first operand.
    fn by_first<B: ImageBackend>(
        gradient: Tensor<B, 4>,
        second: Tensor<B, 4>,
        window: Window,
        sides: [usize; 2],
    ) -> Tensor<B, 4>;

    /// Computes the gradient by the second operand.
    fn by_second<B: ImageBackend>(
        first: Tensor<B, 4>,
        gradient: Tensor<B, 4>,
        window: Window,
        sides: [usize; 2],
    ) -> Tensor<B, 4>;
}

#[derive(Debug)]
struct BilinearStep<O>(O);

impl<B: ImageBackend, O: Bilinear> Backward<B, 2> for BilinearStep<O> {
    type State = Operands<B>;

    fn backward(
        self,
        ops: Ops<Self::State, 2>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let gradient = wrap::<B, 4>(gradients.consume::<B>(&ops.node));
        let [first, second] = ops.parents;
        let Operands {
            first: first_operand,
            second: second_operand,
            window,
            sides,
        } = ops.state;
        if let (Some(parent), Some(operand)) = (second, first_operand) {
            let by_second = O::by_second::<B>(operand, gradient.clone(), window, sides);
            register(gradients, parent.id, by_second);
        }
        if let (Some(parent), Some(operand)) = (first, second_operand) {
            let by_first = O::by_first::<B>(gradient, operand, window, sides);
            register(gradients, parent.id, by_first);
        }
    }
}

fn apply<B: ImageBackend, C: CheckpointStrategy, O: Bilinear>(
    operator: O,
    operands: [Tensor<Autodiff<B, C>, 4>; 2],
    window: Window,
    sides: [usize; 2],
    compute: impl FnOnce(Tensor<B, 4>, Tensor<B, 4>) -> Tensor<B, 4>,
) -> Tensor<Autodiff<B, C>, 4> {
    let operands = operands.map(unwrap);
    let [by_first, by_second] =
        [0, 1].map(|operand: usize| !operands[operand].node.requirement.is_none());
    let [first, second] = [0, 1].map(|operand: usize| wrap(operands[operand].primitive.clone()));
    let output = compute(first.clone(), second.clone());
    record(BilinearStep(operator), operands, output, || Operands {
        first: by_second.then_some(first),
        second: by_first.then_some(second),
        window,
        sides,
    })
}

/// The convolution, of an input and a weight.
#[derive(Debug)]
struct ConvolutionStep;

impl Bilinear for ConvolutionStep {
    fn by_first<B: ImageBackend>(
        gradient: Tensor<B, 4>,
        weight: Tensor<B, 4>,
        window: Window,
        sides: [usize; 2],
    ) -> Tensor<B, 4> {
        B::convolution_input_gradient(gradient, weight, window, sides)
    }

    fn by_second<B: ImageBackend>(
        x: Tensor<B, 4>,
        gradient: Tensor<B, 4>,
        window: Window,
        _sides: [usize; 2],
    ) -> Tensor<B, 4> {
        B::convolution_weight_gradient(x, gradient, window)
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
        window,
        [height, width],
        compute,
    )
}

/// The gradient by the input, of a gradient by the output and the weight.
#[derive(Debug)]
struct InputGradientStep;

impl Bilinear for InputGradientStep {
    fn by_first<B: ImageBackend>(
        x: Tensor<B, 4>,
        weight: Tensor<B, 4>,
        window: Window,
        _sides: [usize; 2],
    ) -> Tensor<B, 4> {
        B::convolution(x, weight, window)
    }

    fn by_second<B: ImageBackend>(
        gradient: Tensor<B, 4>,
        x: Tensor<B, 4>,
        window: Window,
        _sides: [usize; 2],
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
        window,
        sides,
        compute,
    )
}

/// The gradient by the weight, of the input and a gradient by the output.
#[derive(Debug)]
struct WeightGradientStep;

impl Bilinear for WeightGradientStep {
    fn by_first<B: ImageBackend>(
        weight: Tensor<B, 4>,
        gradient: Tensor<B, 4>,
        window: Window,
        sides: [usize; 2],
    ) -> Tensor<B, 4> {
        B::convolution_input_gradient(gradient, weight, window, sides)
    }

    fn by_second<B: ImageBackend>(
        x: Tensor<B, 4>,
        weight: Tensor<B, 4>,
        window: Window,
        _sides: [usize; 2],
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
        window,
        [height, width],
        compute,
    )
}
