//! The operators that graph encoders need of a backend.

use burn::tensor::{Tensor, backend::Backend};
use icl_core::graph::SparseMatrix;

use super::norm_activation::{
    NormActivation, NormActivationSaved, composed_norm_activation,
    composed_norm_activation_backward,
};
use super::sparse_product::composed_sparse_product;
use crate::dropout::DropoutMask;

/// A backend on which graph encoders run: the backends of this crate's features, and [`Autodiff`] of
/// each. An empty `impl` for another backend gives it the composed form of every operator.
///
/// [`Autodiff`]: burn::backend::Autodiff
pub trait GraphBackend: Backend {
    /// Computes A·x `[n, c]` of a sparse matrix A `[n, m]` and `x` `[m, c]`. The backward pass is
    /// Aᵀ·g; A gets no gradient.
    ///
    /// # Panics
    /// If the number of columns of A is not the number of rows of `x`.
    fn sparse_product(matrix: &SparseMatrix<Self>, x: Tensor<Self, 2>) -> Tensor<Self, 2> {
        composed_sparse_product(matrix, x)
    }

    /// Computes A·X·W `[n, c]` of a sparse matrix A `[n, m]`, `x` X `[m, d]` and `weight` W `[d, c]`.
    /// A gets no gradient.
    ///
    /// # Panics
    /// If the number of columns of A is not the number of rows of X, or that of X not that of rows of
    /// W.
    fn graph_convolution(
        matrix: &SparseMatrix<Self>,
        x: Tensor<Self, 2>,
        weight: Tensor<Self, 2>,
    ) -> Tensor<Self, 2> {
        composed_graph_convolution(matrix, x, weight)
    }

    /// Computes the gradients of [`graph_convolution`](Self::graph_convolution) by X and by W, each
    /// if `wanted`, given the `gradient` by its output `[n, c]`.
    fn graph_convolution_backward(
        matrix: &SparseMatrix<Self>,
        x: Tensor<Self, 2>,
        weight: Tensor<Self, 2>,
        gradient: Tensor<Self, 2>,
        wanted: [bool; 2],
    ) -> [Option<Tensor<Self, 2>>; 2] {
        composed_graph_convolution_backward(matrix, x, weight, gradient, wanted)
    }

    /// Applies [`NormActivation`] to `x` `[n, c]` and returns the output `[n, c]` with the values that
    /// the backward pass needs.
    fn norm_activation(
        options: NormActivation,
        x: Tensor<Self, 2>,
        mask: Option<DropoutMask>,
    ) -> (Tensor<Self, 2>, NormActivationSaved<Self>) {
        composed_norm_activation(options, x, mask)
    }

    /// Computes the gradient of [`norm_activation`](Self::norm_activation) by its input, given the
    /// `gradient` by its output, both `[n, c]`.
    fn norm_activation_backward(
        options: NormActivation,
        saved: NormActivationSaved<Self>,
        gradient: Tensor<Self, 2>,
    ) -> Tensor<Self, 2> {
        composed_norm_activation_backward(options, saved, gradient)
    }
}

/// Computes A·X·W by the sparse product and Burn's dense one: the default of
/// [`GraphBackend::graph_convolution`], and the reference that kernels are compared with.
///
/// Since (A·X)·W = A·(X·W), the sparse product is that of the narrower of X and X·W.
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

/// Computes the gradients of [`composed_graph_convolution`] by X and by W, each if `wanted`, given the
/// `gradient` G by its output.
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
