//! The convolution and its two gradients.
//!
//! Each is linear in both of its operands, and the gradient of each by either is one of the other
//! two. An operand is kept only for the other's gradient.

use burn::backend::Autodiff;
use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops};
use burn::tensor::Tensor;

use super::super::backend::ImageBackend;
use super::super::window::Window;
use crate::backward_step::{record, register, unwrap, wrap};

/// The operands that the backward pass needs, and the geometry.
#[derive(Debug, Clone)]
struct Operands<B: ImageBackend> {
    first: Option<Tensor<B, 4>>,
    second: Option<Tensor<B, 4>>,
    window: Window,
    /// The sides `[h, w]` of the images on the input's side of the convolution.
    sides: [usize; 2],
}

/// What the gradients of one of the three operators are.
trait Bilinear: Send + Sync + std::fmt::Debug + 'static {
    /// The gradient by the first operand.
    fn by_first<B: ImageBackend>(
        gradient: Tensor<B, 4>,
        second: Tensor<B, 4>,
        window: Window,
        sides: [usize; 2],
    ) -> Tensor<B, 4>;

    /// The gradient by the second operand.
    fn by_second<B: ImageBackend>(
        first: Tensor<B, 4>,
        gradient: Tensor<B, 4>,
        window: Window,
        sides: [usize; 2],
    ) -> Tensor<B, 4>;
}

#[derive(Debug)]
struct Step<O>(O);

impl<B: ImageBackend, O: Bilinear> Backward<B, 2> for Step<O> {
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
    record(Step(operator), operands, output, || Operands {
        first: by_second.then_some(first),
        second: by_first.then_some(second),
        window,
        sides,
    })
}

#[derive(Debug)]
struct Product;

impl Bilinear for Product {
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

pub(super) fn product<B: ImageBackend, C: CheckpointStrategy>(
    x: Tensor<Autodiff<B, C>, 4>,
    weight: Tensor<Autodiff<B, C>, 4>,
    window: Window,
) -> Tensor<Autodiff<B, C>, 4> {
    let [_, height, width, _] = x.dims();
    let compute = |x, weight| B::convolution(x, weight, window);
    apply(Product, [x, weight], window, [height, width], compute)
}

/// Of a gradient by the output, and the weight.
#[derive(Debug)]
struct InputGradient;

impl Bilinear for InputGradient {
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
    apply(InputGradient, [gradient, weight], window, sides, compute)
}

/// Of the input, and a gradient by the output.
#[derive(Debug)]
struct WeightGradient;

impl Bilinear for WeightGradient {
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
        WeightGradient,
        [x, gradient],
        window,
        [height, width],
        compute,
    )
}
