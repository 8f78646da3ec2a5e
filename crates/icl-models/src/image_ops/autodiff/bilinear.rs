//! Gradients of operators that are linear in both of their operands.

use std::fmt::Debug;

use burn::backend::Autodiff;
use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops};
use burn::tensor::Tensor;

use super::super::backend::ImageBackend;
use icl_core::backward_step::{record, register, unwrap, wrap};

/// An operator of two tensors of rank `D`, given by its gradients.
pub(super) trait Bilinear<const D: usize>: Send + Sync + Debug + 'static {
    /// Geometry that the gradients need.
    type Geometry: Copy + Send + Sync + Debug + 'static;

    /// Computes the gradient by the first operand.
    fn by_first<B: ImageBackend>(
        gradient: Tensor<B, D>,
        second: Tensor<B, D>,
        geometry: Self::Geometry,
    ) -> Tensor<B, D>;

    /// Computes the gradient by the second operand.
    fn by_second<B: ImageBackend>(
        first: Tensor<B, D>,
        gradient: Tensor<B, D>,
        geometry: Self::Geometry,
    ) -> Tensor<B, D>;

    /// Computes both gradients, by the first operand and by the second.
    fn by_both<B: ImageBackend>(
        first: Tensor<B, D>,
        second: Tensor<B, D>,
        gradient: Tensor<B, D>,
        geometry: Self::Geometry,
    ) -> [Tensor<B, D>; 2] {
        let by_second = Self::by_second(first, gradient.clone(), geometry);
        [Self::by_first(gradient, second, geometry), by_second]
    }
}

/// Operands that the backward pass needs, and the geometry.
#[derive(Debug, Clone)]
struct Operands<B: ImageBackend, G, const D: usize> {
    first: Option<Tensor<B, D>>,
    second: Option<Tensor<B, D>>,
    geometry: G,
}

#[derive(Debug)]
struct BilinearStep<O, const D: usize>(O);

impl<B: ImageBackend, O: Bilinear<D>, const D: usize> Backward<B, 2> for BilinearStep<O, D> {
    type State = Operands<B, O::Geometry, D>;

    fn backward(
        self,
        ops: Ops<Self::State, 2>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let gradient = wrap::<B, D>(gradients.consume::<B>(&ops.node));
        let [first, second] = ops.parents;
        let Operands {
            first: first_operand,
            second: second_operand,
            geometry,
        } = ops.state;
        let by_first = first.zip(second_operand);
        let by_second = second.zip(first_operand);
        match (by_first, by_second) {
            (Some((first, second_operand)), Some((second, first_operand))) => {
                let both = O::by_both::<B>(first_operand, second_operand, gradient, geometry);
                for (parent, by_operand) in [first, second].into_iter().zip(both) {
                    register(gradients, parent.id, by_operand);
                }
            }
            (Some((parent, operand)), None) => {
                let by_first = O::by_first::<B>(gradient, operand, geometry);
                register(gradients, parent.id, by_first);
            }
            (None, Some((parent, operand))) => {
                let by_second = O::by_second::<B>(operand, gradient, geometry);
                register(gradients, parent.id, by_second);
            }
            (None, None) => {}
        }
    }
}

/// Applies an operator that `compute` computes. An operand is kept only if the gradient by the other is
/// needed.
pub(super) fn apply<B: ImageBackend, C: CheckpointStrategy, O: Bilinear<D>, const D: usize>(
    operator: O,
    operands: [Tensor<Autodiff<B, C>, D>; 2],
    geometry: O::Geometry,
    compute: impl FnOnce(Tensor<B, D>, Tensor<B, D>) -> Tensor<B, D>,
) -> Tensor<Autodiff<B, C>, D> {
    let operands = operands.map(unwrap);
    let [by_first, by_second] =
        [0, 1].map(|operand: usize| !operands[operand].node.requirement.is_none());
    let [first, second] = [0, 1].map(|operand: usize| wrap(operands[operand].primitive.clone()));
    let output = compute(first.clone(), second.clone());
    record(BilinearStep(operator), operands, output, || Operands {
        first: by_second.then_some(first),
        second: by_first.then_some(second),
        geometry,
    })
}
