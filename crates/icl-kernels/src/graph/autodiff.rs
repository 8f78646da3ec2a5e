//! Gradients of the operators, whichever kernels the inner backend has.
//!
//! They are computed by the same operators on the inner backend, so `Autodiff<Autodiff<B>>` computes second
//! derivatives.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor, backend::Backend};

use super::convolution::{graph_convolution, graph_convolution_backward};
use super::kernels::{Graph, Kernels};
use super::norm_activation::{
    gradient_by_input, norm_activation, norm_activation_backward, statistics,
};
use super::saved::{NormActivation, NormActivationSaved};
use super::sparse_matrix::{Csr, SparseMatrix};
use super::sparse_product::sparse_product;
use crate::autodiff::{linear, record, unwrap, wrap};
use crate::backends::HasKernels;
use crate::dropout::DropoutMask;

impl<B: Backend> HasKernels<Graph> for Autodiff<B> {
    fn kernels(_: DType) -> &'static Kernels<Self> {
        const {
            &Kernels {
                sparse_product: Some(tracked_product),
                graph_convolution: Some(tracked_convolution),
                norm_activation: Some(tracked_norm_activation),
                norm_activation_backward: Some(differentiable_gradient),
                ..Kernels::NONE
            }
        }
    }
}

type Rows<B> = Tensor<Autodiff<B>, 2>;

fn tracked_product<B: Backend>(matrix: &SparseMatrix<Autodiff<B>>, x: Rows<B>) -> Rows<B> {
    let matrix = inner(matrix);
    let transpose = matrix.clone().transpose();
    linear(
        x,
        |x| sparse_product(&matrix, x),
        move |gradient| sparse_product(&transpose, gradient),
    )
}

fn tracked_convolution<B: Backend>(
    matrix: &SparseMatrix<Autodiff<B>>,
    x: Rows<B>,
    weight: Rows<B>,
) -> Rows<B> {
    let matrix = inner(matrix);
    let factors = [x, weight].map(unwrap);
    let [x, weight] = factors
        .each_ref()
        .map(|factor| wrap::<B, 2>(factor.primitive.clone()));
    let product = graph_convolution(&matrix, x.clone(), weight.clone());
    record(factors, product, move |gradient, wanted| {
        graph_convolution_backward(&matrix, x, weight, wrap(gradient), wanted)
            .map(|found| found.map(unwrap))
    })
}

fn tracked_norm_activation<B: Backend>(
    options: NormActivation,
    x: Rows<B>,
    mask: Option<DropoutMask>,
) -> (Rows<B>, NormActivationSaved<Autodiff<B>>) {
    let input = x.clone();
    let x = unwrap(x);
    let (output, saved) = norm_activation::<B>(options, wrap(x.primitive.clone()), mask);
    let for_caller = NormActivationSaved {
        input,
        mean: Tensor::from_inner(saved.mean.clone()),
        scale: Tensor::from_inner(saved.scale.clone()),
        mask: saved.mask.clone(),
    };
    let output = record([x], output, move |gradient, [is_wanted]| {
        let backward = || norm_activation_backward(options, saved, wrap(gradient));
        [is_wanted.then(|| unwrap(backward()))]
    });
    (output, for_caller)
}

/// Computes the gradient of normalisation in a form that can itself be differentiated: the saved statistics carry
/// no graph back to the input, so they are computed again.
fn differentiable_gradient<B: Backend>(
    options: NormActivation,
    saved: NormActivationSaved<Autodiff<B>>,
    gradient: Rows<B>,
) -> Rows<B> {
    let saved = statistics(options, saved.input, saved.mask);
    gradient_by_input(options, saved, gradient)
}

fn inner<B: Backend>(matrix: &SparseMatrix<Autodiff<B>>) -> SparseMatrix<B> {
    let inner = |csr: &Csr<Autodiff<B>>| Csr {
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
