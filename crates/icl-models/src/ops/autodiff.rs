//! The operators with gradients: each registers a backward step of its own.
//!
//! The backward steps are operators again, so `Autodiff<Autodiff<B>>` gives second derivatives.

use burn::backend::Autodiff;
use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorPrimitive, ops::FloatTensor};
use icl_core::graph::{Csr, SparseMatrix};

use super::{GraphBackend, NormActivation, NormActivationSaved, norm_activation};
use crate::dropout::DropoutMask;

#[derive(Debug)]
struct SparseProduct;

impl<B: GraphBackend> Backward<B, 1> for SparseProduct {
    type State = SparseMatrix<B>;

    fn backward(
        self,
        ops: Ops<Self::State, 1>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let [parent] = ops.parents;
        let gradient = wrap::<B>(gradients.consume::<B>(&ops.node));
        if let Some(parent) = parent {
            let gradient = B::sparse_product(&ops.state.transpose(), gradient);
            gradients.register::<B>(parent.id, unwrap(gradient));
        }
    }
}

#[derive(Debug)]
struct GraphConvolution;

impl<B: GraphBackend> Backward<B, 2> for GraphConvolution {
    type State = (SparseMatrix<B>, [Tensor<B, 2>; 2]);

    fn backward(
        self,
        ops: Ops<Self::State, 2>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let gradient = wrap::<B>(gradients.consume::<B>(&ops.node));
        let (matrix, [x, weight]) = ops.state;
        let wanted = ops.parents.each_ref().map(Option::is_some);
        let of_parents = B::graph_convolution_backward(&matrix, x, weight, gradient, wanted);
        for (parent, gradient) in ops.parents.into_iter().zip(of_parents) {
            if let (Some(parent), Some(gradient)) = (parent, gradient) {
                gradients.register::<B>(parent.id, unwrap(gradient));
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
        let gradient = wrap::<B>(gradients.consume::<B>(&ops.node));
        if let Some(parent) = parent {
            let (options, saved) = ops.state;
            let gradient = B::norm_activation_backward(options, saved, gradient);
            gradients.register::<B>(parent.id, unwrap(gradient));
        }
    }
}

impl<B: GraphBackend, C: CheckpointStrategy> GraphBackend for Autodiff<B, C> {
    fn sparse_product(matrix: &SparseMatrix<Self>, x: Tensor<Self, 2>) -> Tensor<Self, 2> {
        let matrix = inner(matrix);
        let x = unwrap(x);
        let product = B::sparse_product(&matrix, wrap::<B>(x.primitive.clone()));
        let output = match SparseProduct
            .prepare::<C>([x.node])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(step) => step.finish(matrix, unwrap(product)),
            OpsKind::UnTracked(step) => step.finish(unwrap(product)),
        };
        wrap(output)
    }

    fn graph_convolution(
        matrix: &SparseMatrix<Self>,
        x: Tensor<Self, 2>,
        weight: Tensor<Self, 2>,
    ) -> Tensor<Self, 2> {
        let matrix = inner(matrix);
        let (x, weight) = (unwrap(x), unwrap(weight));
        let factors = [&x, &weight].map(|factor| wrap::<B>(factor.primitive.clone()));
        let [input, kernel] = factors.clone();
        let product = B::graph_convolution(&matrix, input, kernel);
        let output = match GraphConvolution
            .prepare::<C>([x.node, weight.node])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(step) => step.finish((matrix, factors), unwrap(product)),
            OpsKind::UnTracked(step) => step.finish(unwrap(product)),
        };
        wrap(output)
    }

    fn norm_activation(
        options: NormActivation,
        x: Tensor<Self, 2>,
        mask: Option<DropoutMask>,
    ) -> (Tensor<Self, 2>, NormActivationSaved<Self>) {
        let input = x.clone();
        let x = unwrap(x);
        let (output, saved) = B::norm_activation(options, wrap::<B>(x.primitive.clone()), mask);
        let for_caller = NormActivationSaved {
            input,
            mean: Tensor::from_inner(saved.mean.clone()),
            scale: Tensor::from_inner(saved.scale.clone()),
            mask: saved.mask.clone(),
        };
        let output = match NormActivationStep
            .prepare::<C>([x.node])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(step) => step.finish((options, saved), unwrap(output)),
            OpsKind::UnTracked(step) => step.finish(unwrap(output)),
        };
        (wrap(output), for_caller)
    }

    /// Here the backward pass is itself differentiated. What was saved knows nothing of how the
    /// statistics depend on the input, so they are made again.
    fn norm_activation_backward(
        options: NormActivation,
        saved: NormActivationSaved<Self>,
        gradient: Tensor<Self, 2>,
    ) -> Tensor<Self, 2> {
        let saved = norm_activation::save(options, saved.input, saved.mask);
        norm_activation::composed_norm_activation_backward(options, saved, gradient)
    }
}

fn wrap<B: Backend>(tensor: FloatTensor<B>) -> Tensor<B, 2> {
    Tensor::from_primitive(TensorPrimitive::Float(tensor))
}

fn unwrap<B: Backend>(tensor: Tensor<B, 2>) -> FloatTensor<B> {
    tensor.into_primitive().tensor()
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
