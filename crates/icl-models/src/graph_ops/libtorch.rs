//! The operators on LibTorch, where it has something better than the composed forms.

use burn::backend::LibTorch;
use burn::backend::libtorch::{TchElement, TchTensor};
use burn::tensor::{Tensor, TensorPrimitive};
use icl_core::graph::SparseMatrix;

use super::backend::GraphBackend;
use super::sparse_product::assert_fits;

/// The mode of an embedding bag that adds up.
const SUM: i64 = 0;

impl<E: TchElement> GraphBackend for LibTorch<E> {
    /// A product with compressed rows is what LibTorch knows as an embedding bag: row i of the
    /// product is the sum over a bag of rows of `x`, each times a weight. One thread adds up one
    /// bag, on a GPU too, whereas LibTorch's `index_add` adds atomically there.
    fn sparse_product(matrix: &SparseMatrix<Self>, x: Tensor<Self, 2>) -> Tensor<Self, 2> {
        assert_fits(matrix, &x);
        let csr = &matrix.forward;
        let values = csr.values.clone().cast(x.dtype()).into_primitive().tensor();
        let (columns, pointers) = (
            csr.columns.clone().into_primitive(),
            csr.pointers.clone().into_primitive(),
        );
        let (scale_by_frequency, is_gradient_sparse, includes_last_pointer) = (false, false, true);
        let (product, ..) = tch::Tensor::embedding_bag(
            &x.into_primitive().tensor().tensor,
            &columns.tensor,
            &pointers.tensor,
            scale_by_frequency,
            SUM,
            is_gradient_sparse,
            Some(values.tensor),
            includes_last_pointer,
        );
        Tensor::from_primitive(TensorPrimitive::Float(TchTensor::new(product)))
    }
}
