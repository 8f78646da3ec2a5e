//! Gradients of kernels: operators whose backward pass Burn's autodiff takes from a function.

use std::fmt;
use std::marker::PhantomData;

use burn::backend::Autodiff;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::NoCheckpointing;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorPrimitive, ops::FloatTensor};

/// Gradients by `N` operands, of which some are wanted.
pub(crate) type OfOperands<B, const N: usize> = [Option<FloatTensor<B>>; N];

/// Returns `output` as a tensor with the gradients that `backward` computes: by each of the `operands`
/// that are tracked, given the gradient by the output. What `backward` holds is kept for it only if one is
/// tracked.
pub(crate) fn record<B: Backend, F, const N: usize, const D: usize>(
    operands: [FloatTensor<Autodiff<B>>; N],
    output: Tensor<B, D>,
    backward: F,
) -> Tensor<Autodiff<B>, D>
where
    F: FnOnce(FloatTensor<B>, [bool; N]) -> OfOperands<B, N> + Clone + Send + 'static,
{
    // The operands live until the output is in the graph: Burn removes what nobody refers to from the graphs of all
    // threads, after a backward pass on any of them.
    let nodes = operands.each_ref().map(|it| it.node.clone());
    let step = Step(PhantomData).prepare::<NoCheckpointing>(nodes);
    let output = match step.compute_bound().stateful() {
        OpsKind::Tracked(step) => step.finish(Held(backward), unwrap(output)),
        OpsKind::UnTracked(step) => step.finish(unwrap(output)),
    };
    wrap(output)
}

/// Applies an operator that is linear in `x`, given by its transpose.
pub(crate) fn linear<B: Backend, F, const D: usize>(
    x: Tensor<Autodiff<B>, D>,
    compute: impl FnOnce(Tensor<B, D>) -> Tensor<B, D>,
    transpose: F,
) -> Tensor<Autodiff<B>, D>
where
    F: FnOnce(Tensor<B, D>) -> Tensor<B, D> + Clone + Send + 'static,
{
    let x = unwrap(x);
    let output = compute(wrap(x.primitive.clone()));
    record([x], output, move |gradient, [is_wanted]| {
        [is_wanted.then(|| unwrap(transpose(wrap(gradient))))]
    })
}

/// Applies an operator that is linear in each of two operands, given by its gradients: `by_first(gradient, second)`
/// and `by_second(first, gradient)`, where `gradient` is that by the output.
pub(crate) fn bilinear<B: Backend, F, G, const D: usize>(
    operands: [Tensor<Autodiff<B>, D>; 2],
    compute: impl FnOnce(Tensor<B, D>, Tensor<B, D>) -> Tensor<B, D>,
    by_first: F,
    by_second: G,
) -> Tensor<Autodiff<B>, D>
where
    F: Fn(Tensor<B, D>, Tensor<B, D>) -> Tensor<B, D> + Copy + Send + 'static,
    G: Fn(Tensor<B, D>, Tensor<B, D>) -> Tensor<B, D> + Copy + Send + 'static,
{
    let by_both = move |[first, second]: [_; 2], gradient: Tensor<B, D>| {
        let by_second = by_second(first, gradient.clone());
        [by_first(gradient, second), by_second]
    };
    bilinear_at_once(operands, compute, by_first, by_second, by_both)
}

/// Applies an operator as [`bilinear`] does, with a function for both gradients at once. An operand is kept
/// only if the gradient by the other is needed.
pub(crate) fn bilinear_at_once<B: Backend, F, G, H, const D: usize>(
    operands: [Tensor<Autodiff<B>, D>; 2],
    compute: impl FnOnce(Tensor<B, D>, Tensor<B, D>) -> Tensor<B, D>,
    by_first: F,
    by_second: G,
    by_both: H,
) -> Tensor<Autodiff<B>, D>
where
    F: Fn(Tensor<B, D>, Tensor<B, D>) -> Tensor<B, D> + Copy + Send + 'static,
    G: Fn(Tensor<B, D>, Tensor<B, D>) -> Tensor<B, D> + Copy + Send + 'static,
    H: Fn([Tensor<B, D>; 2], Tensor<B, D>) -> [Tensor<B, D>; 2] + Copy + Send + 'static,
{
    let operands = operands.map(unwrap);
    let [by_x, by_y] = operands
        .each_ref()
        .map(|operand| !operand.node.requirement.is_none());
    let [x, y] = operands
        .each_ref()
        .map(|operand| wrap::<B, D>(operand.primitive.clone()));
    let output = compute(x.clone(), y.clone());
    // The gradient by one operand is a function of the other one; what no gradient needs is freed here.
    let kept = [by_y.then_some(x), by_x.then_some(y)];
    record(operands, output, move |gradient, wanted| {
        let gradient = wrap(gradient);
        match (kept, wanted) {
            ([Some(first), Some(second)], [true, true]) => {
                by_both([first, second], gradient).map(|found| Some(unwrap(found)))
            }
            ([_, Some(second)], [true, _]) => [Some(unwrap(by_first(gradient, second))), None],
            ([Some(first), _], [_, true]) => [None, Some(unwrap(by_second(first, gradient)))],
            _ => [None, None],
        }
    })
}

/// The step back from an operator, whose function is its state.
struct Step<F>(PhantomData<fn() -> F>);

impl<B, F, const N: usize> Backward<B, N> for Step<F>
where
    B: Backend,
    F: FnOnce(FloatTensor<B>, [bool; N]) -> OfOperands<B, N> + Clone + Send + 'static,
{
    type State = Held<F>;

    fn backward(self, ops: Ops<Held<F>, N>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = gradients.consume::<B>(&ops.node);
        let Held(backward) = ops.state;
        let wanted = ops.parents.each_ref().map(Option::is_some);
        for (parent, gradient) in ops.parents.iter().zip(backward(gradient, wanted)) {
            if let (Some(parent), Some(gradient)) = (parent, gradient) {
                gradients.register::<B>(parent.id, gradient);
            }
        }
    }
}

impl<F> fmt::Debug for Step<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Step")
    }
}

/// A function with the tensors that it holds.
#[derive(Clone)]
struct Held<F>(F);

impl<F> fmt::Debug for Held<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Held")
    }
}

/// Makes a tensor of a primitive.
pub(crate) fn wrap<B: Backend, const D: usize>(tensor: FloatTensor<B>) -> Tensor<B, D> {
    Tensor::from_primitive(TensorPrimitive::Float(tensor))
}

/// Returns the primitive of a tensor.
pub(crate) fn unwrap<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> FloatTensor<B> {
    tensor.into_primitive().tensor()
}
