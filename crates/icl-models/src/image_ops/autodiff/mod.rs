//! The operators with gradients: each registers a backward step of its own.
//!
//! The backward steps are operators again, so `Autodiff<Autodiff<B>>` gives second derivatives.

mod batch_norm;
mod convolution;
mod max_pool;

use burn::backend::Autodiff;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::ops::{Backward, OpsKind};
use burn::backend::autodiff::{NodeId, grads::Gradients};
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorPrimitive, ops::FloatTensor};

use super::{BatchNormGradients, BatchNormSaved, ImageBackend, Window};

impl<B: ImageBackend, C: CheckpointStrategy> ImageBackend for Autodiff<B, C> {
    fn convolution(x: Tensor<Self, 4>, weight: Tensor<Self, 4>, window: Window) -> Tensor<Self, 4> {
        convolution::product(x, weight, window)
    }

    fn convolution_input_gradient(
        gradient: Tensor<Self, 4>,
        weight: Tensor<Self, 4>,
        window: Window,
        sides: [usize; 2],
    ) -> Tensor<Self, 4> {
        convolution::input_gradient(gradient, weight, window, sides)
    }

    fn convolution_weight_gradient(
        x: Tensor<Self, 4>,
        gradient: Tensor<Self, 4>,
        window: Window,
    ) -> Tensor<Self, 4> {
        convolution::weight_gradient(x, gradient, window)
    }

    fn batch_norm_saving(
        x: Tensor<Self, 4>,
        affine: [Tensor<Self, 1>; 2],
        residual: Option<Tensor<Self, 4>>,
        epsilon: f64,
        relu: bool,
    ) -> (Tensor<Self, 4>, BatchNormSaved<Self>) {
        batch_norm::saving(x, affine, residual, epsilon, relu)
    }

    fn batch_norm_backward(
        saved: BatchNormSaved<Self>,
        gradient: Tensor<Self, 4>,
    ) -> BatchNormGradients<Self> {
        batch_norm::backward(saved, gradient)
    }

    fn select_maxima(
        x: Tensor<Self, 4>,
        values: Tensor<Self, 4>,
        window: Window,
    ) -> Tensor<Self, 4> {
        max_pool::select(x, values, window)
    }

    fn scatter_maxima(
        x: Tensor<Self, 4>,
        gradient: Tensor<Self, 4>,
        window: Window,
    ) -> Tensor<Self, 4> {
        max_pool::scatter(x, gradient, window)
    }
}

/// The result of `step` as a tensor with gradients by `parents`. `state` is made only for a step
/// that will be taken.
fn record<B: Backend, C: CheckpointStrategy, S: Backward<B, N>, const N: usize>(
    step: S,
    parents: [FloatTensor<Autodiff<B, C>>; N],
    output: Tensor<B, 4>,
    state: impl FnOnce() -> S::State,
) -> Tensor<Autodiff<B, C>, 4> {
    let parents = parents.map(|parent| parent.node);
    let output = match step.prepare::<C>(parents).compute_bound().stateful() {
        OpsKind::Tracked(step) => step.finish(state(), unwrap(output)),
        OpsKind::UnTracked(step) => step.finish(unwrap(output)),
    };
    wrap(output)
}

fn register<B: Backend>(gradients: &mut Gradients, parent: NodeId, gradient: Tensor<B, 4>) {
    gradients.register::<B>(parent, unwrap(gradient));
}

fn wrap<B: Backend, const D: usize>(tensor: FloatTensor<B>) -> Tensor<B, D> {
    Tensor::from_primitive(TensorPrimitive::Float(tensor))
}

fn unwrap<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> FloatTensor<B> {
    tensor.into_primitive().tensor()
}
