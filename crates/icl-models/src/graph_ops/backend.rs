//! The operators that graph encoders ask of a backend.

use burn::tensor::{Tensor, backend::Backend};
use icl_core::graph::SparseMatrix;

use super::norm_activation::{
    NormActivation, NormActivationSaved, composed_norm_activation,
    composed_norm_activation_backward,
};
use super::sparse_product::composed_sparse_product;
use crate::dropout::DropoutMask;

/// A backend that graph encoders run on: those of this crate's features, and [`Autodiff`] of each.
/// Another one joins with an empty `impl`, which is the composed form of everything.
///
/// [`Autodiff`]: burn::backend::Autodiff
pub trait GraphBackend: Backend {
    /// A·x for a sparse A `[n, m]` and `x` `[m, c]`: `[n, c]`. The backward pass is Aᵀ·g; A gets no
    /// gradient.
    ///
    /// # Panics
    /// If A has not as many columns as `x` has rows.
    fn sparse_product(matrix: &SparseMatrix<Self>, x: Tensor<Self, 2>) -> Tensor<Self, 2> {
        composed_sparse_product(matrix, x)
    }

    /// A·X·W for a sparse A `[n, m]`, X `[m, d]` and W `[d, c]`: `[n, c]`. A gets no gradient.
    ///
    /// # Panics
    /// If the shapes do not fit.
    fn graph_convolution(
        matrix: &SparseMatrix<Self>,
        x: Tensor<Self, 2>,
        weight: Tensor<Self, 2>,
    ) -> Tensor<Self, 2> {
        composed_graph_convolution(matrix, x, weight)
    }

    /// The gradients of [`graph_convolution`](Self::graph_convolution) by X and by W, those that are
    /// `wanted`, from that by its output `[n, c]`.
    fn graph_convolution_backward(
        matrix: &SparseMatrix<Self>,
        x: Tensor<Self, 2>,
        weight: Tensor<Self, 2>,
        gradient: Tensor<Self, 2>,
        wanted: [bool; 2],
    ) -> [Option<Tensor<Self, 2>>; 2] {
        composed_graph_convolution_backward(matrix, x, weight, gradient, wanted)
    }

    /// [`NormActivation`] on `x` `[n, c]`, with what its backward pass needs.
    fn norm_activation(
        options: NormActivation,
        x: Tensor<Self, 2>,
        mask: Option<DropoutMask>,
    ) -> (Tensor<Self, 2>, NormActivationSaved<Self>) {
        composed_norm_activation(options, x, mask)
    }

    /// The gradient of [`norm_activation`](Self::norm_activation) by its input, from that by its
    /// output, both `[n, c]`.
    fn norm_activation_backward(
        options: NormActivation,
        saved: NormActivationSaved<Self>,
        gradient: Tensor<Self, 2>,
    ) -> Tensor<Self, 2> {
        composed_norm_activation_backward(options, saved, gradient)
    }
}

/// A·X·W by the sparse product and Burn's own: what
/// [`GraphBackend::graph_convolution`] is where a backend has no kernel, and what a kernel is measured
/// against. (A·X)·W = A·(X·W): the sparse product takes the narrower of the two.
///
/// # Panics
/// If the shapes do not fit.
pub fn composed_graph_convolution<B: GraphBackend>(
    matrix: &SparseMatrix<B>,
    x: Tensor<B, 2>,
    weight: Tensor<B, 2>,
) -> Tensor<B, 2> {
    let [d_input, d_output] = weight.dims();
    if d_input < d_output {
        B::sparse_product(matrix, x).matmul(weight)
    } else {
        B::sparse_product(matrix, x.matmul(weight))
    }
}

/// The gradients of [`composed_graph_convolution`] by X and by W, those that are `wanted`, from that by
/// its output.
///
/// ```text
/// ∂/∂X = Aᵀ·G·Wᵀ      ∂/∂W = Xᵀ·Aᵀ·G = (A·X)ᵀ·G
/// ```
pub fn composed_graph_convolution_backward<B: GraphBackend>(
    matrix: &SparseMatrix<B>,
    x: Tensor<B, 2>,
    weight: Tensor<B, 2>,
    gradient: Tensor<B, 2>,
    wanted: [bool; 2],
) -> [Option<Tensor<B, 2>>; 2] {
    let [d_input, d_output] = weight.dims();
    if wanted == [false, true] && d_input < d_output {
        let propagated = B::sparse_product(matrix, x);
        return [None, Some(propagated.transpose().matmul(gradient))];
    }
    let back = B::sparse_product(&matrix.clone().transpose(), gradient);
    let [by_x, by_weight] = wanted;
    [
        by_x.then(|| back.clone().matmul(weight.transpose())),
        by_weight.then(|| x.transpose().matmul(back)),
    ]
}
