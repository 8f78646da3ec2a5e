//! Registration of backward steps with Burn's autodiff: what an operator with a kernel of its own needs to have a gradient.

use burn::backend::Autodiff;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::ops::{Backward, OpsKind};
use burn::backend::autodiff::{NodeId, grads::Gradients};
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorPrimitive, ops::FloatTensor};

/// Returns `output` as a tensor whose gradients by `parents` are those of `step`. `state` is called
/// only if a gradient is tracked.
pub fn record<
    B: Backend,
    C: CheckpointStrategy,
    S: Backward<B, N>,
    const N: usize,
    const D: usize,
>(
    step: S,
    parents: [FloatTensor<Autodiff<B, C>>; N],
    output: Tensor<B, D>,
    state: impl FnOnce() -> S::State,
) -> Tensor<Autodiff<B, C>, D> {
    let parents = parents.map(|parent| parent.node);
    let output = match step.prepare::<C>(parents).compute_bound().stateful() {
        OpsKind::Tracked(step) => step.finish(state(), unwrap(output)),
        OpsKind::UnTracked(step) => step.finish(unwrap(output)),
    };
    wrap(output)
}

/// Adds `gradient` to the gradient of `parent`.
pub fn register<B: Backend, const D: usize>(
    gradients: &mut Gradients,
    parent: NodeId,
    gradient: Tensor<B, D>,
) {
    gradients.register::<B>(parent, unwrap(gradient));
}

/// Makes a tensor of a primitive.
pub fn wrap<B: Backend, const D: usize>(tensor: FloatTensor<B>) -> Tensor<B, D> {
    Tensor::from_primitive(TensorPrimitive::Float(tensor))
}

/// Returns the primitive of a tensor.
pub fn unwrap<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> FloatTensor<B> {
    tensor.into_primitive().tensor()
}
