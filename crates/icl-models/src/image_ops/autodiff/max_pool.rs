//! Gradients of selecting and scattering the maxima of windows: each is the gradient of the other.

use burn::backend::Autodiff;
use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops};
use burn::tensor::Tensor;

use super::super::backend::ImageBackend;
use super::super::window::Window;
use icl_core::backward_step::{record, register, unwrap, wrap};

#[derive(Debug)]
struct SelectStep;

impl<B: ImageBackend> Backward<B, 1> for SelectStep {
    type State = (Tensor<B, 4>, Window);

    fn backward(
        self,
        ops: Ops<Self::State, 1>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let [parent] = ops.parents;
        let gradient = wrap::<B, 4>(gradients.consume::<B>(&ops.node));
        if let Some(parent) = parent {
            let (x, window) = ops.state;
            register(gradients, parent.id, B::scatter_maxima(x, gradient, window));
        }
    }
}

pub(super) fn select<B: ImageBackend, C: CheckpointStrategy>(
    x: Tensor<Autodiff<B, C>, 4>,
    values: Tensor<Autodiff<B, C>, 4>,
    window: Window,
) -> Tensor<Autodiff<B, C>, 4> {
    let (x, values) = (x.inner(), unwrap(values));
    let output = B::select_maxima(x.clone(), wrap(values.primitive.clone()), window);
    record(SelectStep, [values], output, || (x, window))
}

#[derive(Debug)]
struct ScatterStep;

impl<B: ImageBackend> Backward<B, 1> for ScatterStep {
    type State = (Tensor<B, 4>, Window);

    fn backward(
        self,
        ops: Ops<Self::State, 1>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let [parent] = ops.parents;
        let gradient = wrap::<B, 4>(gradients.consume::<B>(&ops.node));
        if let Some(parent) = parent {
            let (x, window) = ops.state;
            register(gradients, parent.id, B::select_maxima(x, gradient, window));
        }
    }
}

pub(super) fn scatter<B: ImageBackend, C: CheckpointStrategy>(
    x: Tensor<Autodiff<B, C>, 4>,
    gradient: Tensor<Autodiff<B, C>, 4>,
    window: Window,
) -> Tensor<Autodiff<B, C>, 4> {
    let (x, gradient) = (x.inner(), unwrap(gradient));
    let output = B::scatter_maxima(x.clone(), wrap(gradient.primitive.clone()), window);
    record(ScatterStep, [gradient], output, || (x, window))
}
