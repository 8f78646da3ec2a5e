//! Gradients of batch normalisation.

use burn::backend::Autodiff;
use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops};
use burn::tensor::Tensor;

use super::super::backend::ImageBackend;
use super::super::batch_norm::{
    BatchNormGradients, BatchNormSaved, composed_batch_norm_backward, statistics,
};
use icl_core::backward_step::{record, unwrap, wrap};

/// The output, and the values that the backward pass needs.
type Saving<B> = (Tensor<B, 4>, BatchNormSaved<B>);

/// The step back to the input, γ, β and, if `N` is 4, the residual.
#[derive(Debug)]
struct BatchNormStep;

impl<B: ImageBackend, const N: usize> Backward<B, N> for BatchNormStep {
    type State = BatchNormSaved<B>;

    fn backward(
        self,
        ops: Ops<Self::State, N>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let gradient = wrap::<B, 4>(gradients.consume::<B>(&ops.node));
        let found = B::batch_norm_backward(ops.state, gradient);
        let found = [
            Some(unwrap(found.input)),
            Some(unwrap(found.weight)),
            Some(unwrap(found.bias)),
            found.residual.map(unwrap),
        ];
        for (parent, gradient) in ops.parents.iter().zip(found) {
            if let (Some(parent), Some(gradient)) = (parent, gradient) {
                gradients.register::<B>(parent.id, gradient);
            }
        }
    }
}

pub(super) fn saving<B: ImageBackend, C: CheckpointStrategy>(
    x: Tensor<Autodiff<B, C>, 4>,
    affine: [Tensor<Autodiff<B, C>, 1>; 2],
    residual: Option<Tensor<Autodiff<B, C>, 4>>,
    epsilon: f64,
    relu: bool,
) -> Saving<Autodiff<B, C>> {
    let (input, weight) = (x.clone(), affine[0].clone());
    let x = unwrap(x);
    let [gamma, beta] = affine.map(unwrap);
    let residual = residual.map(unwrap);
    let (output, saved) = B::batch_norm_saving(
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
        Some(added) => record(BatchNormStep, [x, gamma, beta, added], output, || saved),
        None => record(BatchNormStep, [x, gamma, beta], output, || saved),
    };
    (output, for_caller)
}

/// Computes the gradients in a form that can itself be differentiated: the saved statistics carry no
/// graph back to the input, so they are computed again.
pub(super) fn backward<B: ImageBackend, C: CheckpointStrategy>(
    saved: BatchNormSaved<Autodiff<B, C>>,
    gradient: Tensor<Autodiff<B, C>, 4>,
) -> BatchNormGradients<Autodiff<B, C>> {
    let [mean, scale] = statistics(&saved.input, saved.epsilon);
    composed_batch_norm_backward(
        BatchNormSaved {
            mean,
            scale,
            ..saved
        },
        gradient,
    )
}
