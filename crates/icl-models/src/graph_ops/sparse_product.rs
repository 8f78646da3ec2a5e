//! The product of a sparse and a dense matrix by gathering and scattering, for any backend.

use burn::tensor::{IndexingUpdateOp, Tensor, backend::Backend};
use icl_core::graph::{Csr, SparseMatrix};

/// Computes A·x `[n, c]` of a sparse matrix A `[n, m]` and `x` `[m, c]` by Burn's own operators: the
/// default of [`GraphBackend::sparse_product`](crate::GraphBackend::sparse_product), and the reference
/// that kernels are compared with.
///
/// For each entry (i, j) of A, row j of `x` times its value is added to row i of the product. The
/// order of these additions is that of the backend's `select_assign`: the order of the entries on Flex
/// and on CubeCL's backends. On a backend that scatters by atomic additions, as LibTorch does on a
/// GPU, the result is not deterministic.
///
/// # Panics
/// If the number of columns of A is not the number of rows of `x`.
pub fn composed_sparse_product<B: Backend>(
    matrix: &SparseMatrix<B>,
    x: Tensor<B, 2>,
) -> Tensor<B, 2> {
    assert_fits(matrix, &x);
    composed(&matrix.forward, x)
}

fn composed<B: Backend>(matrix: &Csr<B>, x: Tensor<B, 2>) -> Tensor<B, 2> {
    let ([_, width], device, dtype) = (x.dims(), x.device(), x.dtype());
    let zeros = Tensor::zeros([matrix.n_rows, width], (&device, dtype));
    // Burn's kernels divide by the number of indices.
    if matrix.columns.dims() == [0] {
        return zeros;
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
