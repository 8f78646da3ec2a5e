//! LibTorch's operators that are faster than the composed forms.

use burn::backend::LibTorch;
use burn::tensor::{DType, Tensor};

use super::kernels::{Graph, Kernels};
use super::sparse_matrix::SparseMatrix;
use crate::backends::HasKernels;
use crate::libtorch::{handle, tensor};

/// Mode of an embedding bag that sums.
const SUM: i64 = 0;

impl HasKernels<Graph> for LibTorch {
    fn kernels(_: DType) -> &'static Kernels<Self> {
        const {
            &Kernels {
                sparse_product: Some(sparse_product),
                ..Kernels::NONE
            }
        }
    }
}

/// Computes the product as LibTorch's embedding bag: row i is the weighted sum over a bag of rows
/// of `x`. One thread sums one bag, also on a GPU, where LibTorch's `index_add` would add
/// atomically.
fn sparse_product(matrix: &SparseMatrix<LibTorch>, x: Tensor<LibTorch, 2>) -> Tensor<LibTorch, 2> {
    let csr = &matrix.forward;
    let values = handle(csr.values.clone().cast(x.dtype()));
    let (columns, pointers) = (
        csr.columns.clone().into_primitive(),
        csr.pointers.clone().into_primitive(),
    );
    let (scale_by_frequency, is_gradient_sparse, includes_last_pointer) = (false, false, true);
    let (product, ..) = tch::Tensor::embedding_bag(
        &handle(x),
        &columns.tensor,
        &pointers.tensor,
        scale_by_frequency,
        SUM,
        is_gradient_sparse,
        Some(values),
        includes_last_pointer,
    );
    tensor(product)
}
