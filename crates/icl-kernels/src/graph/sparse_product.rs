//! The product of a sparse and a dense matrix.

use burn::tensor::{IndexingUpdateOp, Tensor, backend::Backend};

use super::kernels::kernels;
use super::sparse_matrix::{Csr, SparseMatrix};

/// Computes A·x `[n, c]` of a sparse matrix A `[n, m]` and `x` `[m, c]`. The backward pass is Aᵀ·g; A gets no
/// gradient.
///
/// Composed of Burn's operators, row j of `x` times the value of each entry (i, j) of A is added to row i of the
/// product. The order of these additions is that of the backend's `select_assign`: the order of the entries on Flex
/// and on CubeCL's backends. On a backend that scatters by atomic additions, as LibTorch does on a GPU, the result is
/// not deterministic. Kernels add the entries of each row in their order.
///
/// # Panics
/// If the number of columns of A is not the number of rows of `x`.
pub fn sparse_product<B: Backend>(matrix: &SparseMatrix<B>, x: Tensor<B, 2>) -> Tensor<B, 2> {
    assert_fits(matrix, &x);
    match kernels::<B>(x.dtype()).sparse_product {
        Some(kernel) => kernel(matrix, x),
        None => gathered_product(&matrix.forward, x),
    }
}

/// Computes the product by gathering and scattering, with Burn's operators.
pub(super) fn gathered_product<B: Backend>(matrix: &Csr<B>, x: Tensor<B, 2>) -> Tensor<B, 2> {
    let ([_, width], device, dtype) = (x.dims(), x.device(), x.dtype());
    let zeros = Tensor::zeros([matrix.n_rows, width], (&device, dtype));
    // Burn's kernels divide by the number of indices, which is 0 here.
    if matrix.columns.dims() == [0] {
        return match B::ad_enabled(&device) {
            // Its gradient is zeros, too, and not none.
            true => zeros + (x * 0.0).sum().reshape([1, 1]),
            false => zeros,
        };
    }
    let values = matrix.values.clone().cast(dtype).unsqueeze_dim::<2>(1);
    let messages = x.select(0, matrix.columns.clone()) * values;
    zeros.select_assign(0, matrix.rows.clone(), messages, IndexingUpdateOp::Add)
}

/// Checks that the shapes of a product fit. The entries of a [`SparseMatrix`] lie within its shape,
/// so kernels need no further check.
pub(super) fn assert_fits<B: Backend>(matrix: &SparseMatrix<B>, x: &Tensor<B, 2>) {
    let (n_columns, [n_rows, _]) = (matrix.transposed.n_rows, x.dims());
    assert_eq!(
        n_columns, n_rows,
        "a sparse matrix of {n_columns} columns times a dense one of {n_rows} rows"
    );
}
