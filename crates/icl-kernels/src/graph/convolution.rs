//! The product of a sparse matrix, a dense one and a weight: a graph convolution.

use burn::tensor::{Tensor, backend::Backend};

use super::kernels::kernels;
use super::sparse_matrix::SparseMatrix;
use super::sparse_product::{assert_fits, sparse_product};

/// Computes A·X·W `[n, c]` of a sparse matrix A `[n, m]`, `x` X `[m, d]` and `weight` W `[d, c]`.
/// A gets no gradient.
///
/// # Panics
/// If the number of columns of A is not the number of rows of X, or that of X not that of rows of
/// W.
pub fn graph_convolution<B: Backend>(
    matrix: &SparseMatrix<B>,
    x: Tensor<B, 2>,
    weight: Tensor<B, 2>,
) -> Tensor<B, 2> {
    assert_fits(matrix, &x);
    match kernels::<B>(x.dtype()).graph_convolution {
        Some(kernel) => kernel(matrix, x, weight),
        None => two_products(matrix, x, weight),
    }
}

/// Computes the convolution by the sparse product and Burn's dense one.
///
/// Since (A·X)·W = A·(X·W), the sparse product is that of the narrower of X and X·W.
pub(super) fn two_products<B: Backend>(
    matrix: &SparseMatrix<B>,
    x: Tensor<B, 2>,
    weight: Tensor<B, 2>,
) -> Tensor<B, 2> {
    let [d_input, d_output] = weight.dims();
    if d_input < d_output {
        sparse_product(matrix, x).matmul(weight)
    } else {
        sparse_product(matrix, x.matmul(weight))
    }
}

/// Computes the gradients of [`graph_convolution`] by X and by W, each if `wanted`, given the `gradient` G by its
/// output `[n, c]`.
///
/// ```text
/// ∂/∂X = Aᵀ·G·Wᵀ      ∂/∂W = Xᵀ·Aᵀ·G = (A·X)ᵀ·G
/// ```
pub fn graph_convolution_backward<B: Backend>(
    matrix: &SparseMatrix<B>,
    x: Tensor<B, 2>,
    weight: Tensor<B, 2>,
    gradient: Tensor<B, 2>,
    wanted: [bool; 2],
) -> [Option<Tensor<B, 2>>; 2] {
    match kernels::<B>(x.dtype()).graph_convolution_backward {
        Some(kernel) => kernel(matrix, x, weight, gradient, wanted),
        None => gradients_by_products(matrix, x, weight, gradient, wanted),
    }
}

/// Computes the gradients by the sparse product and Burn's dense one.
pub(super) fn gradients_by_products<B: Backend>(
    matrix: &SparseMatrix<B>,
    x: Tensor<B, 2>,
    weight: Tensor<B, 2>,
    gradient: Tensor<B, 2>,
    wanted: [bool; 2],
) -> [Option<Tensor<B, 2>>; 2] {
    let [d_input, d_output] = weight.dims();
    // Without the gradient by X, as in a first layer, the sparse product can be that of the narrower of X and G.
    if wanted == [false, true] && d_input < d_output {
        let propagated = sparse_product(matrix, x);
        return [None, Some(propagated.transpose().matmul(gradient))];
    }
    let back = sparse_product(&matrix.clone().transpose(), gradient);
    let [by_x, by_weight] = wanted;
    [
        by_x.then(|| back.clone().matmul(weight.transpose())),
        by_weight.then(|| x.transpose().matmul(back)),
    ]
}
