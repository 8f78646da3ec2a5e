//! Sparse times dense by gathering and scattering, for any backend.

use burn::tensor::{IndexingUpdateOp, Tensor, backend::Backend};
use icl_core::graph::Csr;

/// A·x: row j of `x`, times a value, is added to row i for each entry (i, j) of A.
pub(super) fn composed<B: Backend>(matrix: &Csr<B>, x: Tensor<B, 2>) -> Tensor<B, 2> {
    let ([_, width], device, dtype) = (x.dims(), x.device(), x.dtype());
    let values = matrix.values.clone().cast(dtype).unsqueeze_dim::<2>(1);
    let messages = x.select(0, matrix.columns.clone()) * values;
    Tensor::zeros([matrix.n_rows, width], (&device, dtype)).select_assign(
        0,
        matrix.rows.clone(),
        messages,
        IndexingUpdateOp::Add,
    )
}
