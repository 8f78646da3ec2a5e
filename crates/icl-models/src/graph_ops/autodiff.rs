//! Gradients of the operators: each registers a backward step of its own.
//!
//! The backward steps are made of operators again, so `Autodiff<Autodiff<B>>` computes second
//! derivatives.

use burn::backend::Autodiff;
use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops};
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use icl_core::graph::{Csr, SparseMatrix};

use super::backend::GraphBackend;
use super::norm_activation::{
    NormActivation, NormActivationSaved, composed_norm_activation_backward, save,
};
use crate::dropout::DropoutMask;
use icl_core::backward_step::{record, register, unwrap, wrap};

#[derive(Debug)]
struct SparseProductStep;

impl<B: GraphBackend> Backward<B, 1> for SparseProductStep {
    type State = SparseMatrix<B>;

    fn backward(
        self,
        ops: Ops<Self::State, 1>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let [parent] = ops.parents;
        let gradient = wrap::<B, 2>(gradients.consume::<B>(&ops.node));
        if let Some(parent) = parent {
            let gradient = B::sparse_product(&ops.state.transpose(), gradient);
            register(gradients, parent.id, gradient);
        }
    }
}

#[derive(Debug)]
struct GraphConvolutionStep;

impl<B: GraphBackend> Backward<B, 2> for GraphConvolutionStep {
    type State = (SparseMatrix<B>, [Tensor<B, 2>; 2]);

    fn backward(
        self,
        ops: Ops<Self::State, 2>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let gradient = wrap::<B, 2>(gradients.consume::<B>(&ops.node));
        let (matrix, [x, weight]) = ops.state;
        let wanted = ops.parents.each_ref().map(Option::is_some);
        let of_parents = B::graph_convolution_backward(&matrix, x, weight, gradient, wanted);
        for (parent, gradient) in ops.parents.into_iter().zip(of_parents) {
            if let (Some(parent), Some(gradient)) = (parent, gradient) {
                register(gradients, parent.id, gradient);
            }
        }
    }
}

#[derive(Debug)]
struct NormActivationStep;

impl<B: GraphBackend> Backward<B, 1> for NormActivationStep {
    type State = (NormActivation, NormActivationSaved<B>);

    fn backward(
        self,
        ops: Ops<Self::State, 1>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let [parent] = ops.parents;
        let gradient = wrap::<B, 2>(gradients.consume::<B>(&ops.node));
        if let Some(parent) = parent {
            let (options, saved) = ops.state;
            let gradient = B::norm_activation_backward(options, saved, gradient);
            register(gradients, parent.id, gradient);
        }
    }
}

impl<B: GraphBackend, C: CheckpointStrategy> GraphBackend for Autodiff<B, C> {
    fn sparse_product(matrix: &SparseMatrix<Self>, x: Tensor<Self, 2>) -> Tensor<Self, 2> {
        let matrix = inner(matrix);
        let x = unwrap(x);
        let product = B::sparse_product(&matrix, wrap::<B, 2>(x.primitive.clone()));
        record(SparseProductStep, [x], product, || matrix)
    }

    fn graph_convolution(
        matrix: &SparseMatrix<Self>,
        x: Tensor<Self, 2>,
        weight: Tensor<Self, 2>,
    ) -> Tensor<Self, 2> {
        let matrix = inner(matrix);
        let (x, weight) = (unwrap(x), unwrap(weight));
        let factors = [&x, &weight].map(|factor| wrap::<B, 2>(factor.primitive.clone()));
        let [input, kernel] = factors.clone();
        let product = B::graph_convolution(&matrix, input, kernel);
        record(GraphConvolutionStep, [x, weight], product, || {
            (matrix, factors)
        })
    }

    fn norm_activation(
        options: NormActivation,
        x: Tensor<Self, 2>,
        mask: Option<DropoutMask>,
    ) -> (Tensor<Self, 2>, NormActivationSaved<Self>) {
        let input = x.clone();
        let x = unwrap(x);
        let (output, saved) = B::norm_activation(options, wrap::<B, 2>(x.primitive.clone()), mask);
        let for_caller = NormActivationSaved {
            input,
            mean: Tensor::from_inner(saved.mean.clone()),
            scale: Tensor::from_inner(saved.scale.clone()),
            mask: saved.mask.clone(),
        };
        let output = record(NormActivationStep, [x], output, || (options, saved));
        (output, for_caller)
    }

    /// Computes the gradient in a form that can itself be differentiated: the saved statistics carry
    /// no graph back to the input, so they are computed again.
    fn norm_activation_backward(
        options: NormActivation,
        saved: NormActivationSaved<Self>,
        gradient: Tensor<Self, 2>,
    ) -> Tensor<Self, 2> {
        let saved = save(options, saved.input, saved.mask);
        composed_norm_activation_backward(options, saved, gradient)
    }
}

fn inner<B: Backend, C: CheckpointStrategy>(
    matrix: &SparseMatrix<Autodiff<B, C>>,
) -> SparseMatrix<B> {
    let inner = |csr: &Csr<Autodiff<B, C>>| Csr {
        pointers: csr.pointers.clone().inner(),
        rows: csr.rows.clone().inner(),
        columns: csr.columns.clone().inner(),
        values: csr.values.clone().inner(),
        n_rows: csr.n_rows,
    };
    SparseMatrix {
        forward: inner(&matrix.forward),
        transposed: inner(&matrix.transposed),
    }
}
