//! Sparse times dense by gathering and scattering, for any backend.

use burn::tensor::{IndexingUpdateOp, Tensor, backend::Backend};
use icl_core::graph::{Csr, SparseMatrix};

/// A·x for a sparse A `[n, m]` and `x` `[m, c]` by Burn's own operators: what
/// [`GraphBackend::sparse_product`](super::GraphBackend::sparse_product) is where a backend has no
/// kernel, and what a kernel is measured against.
///
/// Row j of `x`, times a value, is added to row i for each entry (i, j) of A. In which order is the
/// backend's affair, by its `select_assign`: in that of the entries on Flex and on CubeCL's. A backend
/// that scatters by atomic additions, as LibTorch does on a GPU, is not deterministic here.
///
/// # Panics
/// If A has not as many columns as `x` has rows.
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
    // Burn's kernels divide by how many indices there are.
    if matrix.columns.dims() == [0] {
        return zeros;
    }
    let values = matrix.values.clone().cast(dtype).unsqueeze_dim::<2>(1);
    let messages = x.select(0, matrix.columns.clone()) * values;
    zeros.select_assign(0, matrix.rows.clone(), messages, IndexingUpdateOp::Add)
}

/// The entries of a [`SparseMatrix`] lie within its shape, so that a kernel may trust them where
/// that shape fits.
pub(super) fn assert_fits<B: Backend>(matrix: &SparseMatrix<B>, x: &Tensor<B, 2>) {
    let (n_columns, [n_rows, _]) = (matrix.transposed.n_rows, x.dims());
    assert_eq!(
        n_columns, n_rows,
        "a sparse matrix of {n_columns} columns times a dense one of {n_rows} rows"
    );
}
