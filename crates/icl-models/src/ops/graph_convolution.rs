//! A sparse matrix times a dense one times a weight, by the operators that there are.

use burn::tensor::Tensor;
use icl_core::graph::SparseMatrix;

use super::GraphBackend;

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
