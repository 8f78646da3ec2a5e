//! The operators on the default CPU backend, without any tensor between.
//!
//! Rows are cut into parts whose bounds depend on shapes alone, and sums over parts are added in
//! order: results are the same bits whatever the number of threads.

mod column_sums;
pub(crate) mod lanes;
mod norm_activation;
mod parts;
mod sparse_product;

use burn::tensor::{Bytes, DType, Shape, Tensor, TensorPrimitive};
use burn_flex::{Flex, FlexTensor, Layout};
use icl_core::graph::SparseMatrix;

use super::norm_activation::{composed_norm_activation, composed_norm_activation_backward};
use super::sparse_product::{assert_fits, composed_sparse_product};
use super::{GraphBackend, NormActivation, NormActivationSaved};

impl GraphBackend for Flex {
    fn sparse_product(matrix: &SparseMatrix<Self>, x: Tensor<Self, 2>) -> Tensor<Self, 2> {
        if x.dtype() == DType::F32 {
            assert_fits(matrix, &x);
            sparse_product::rows(&matrix.forward, x)
        } else {
            composed_sparse_product(matrix, x)
        }
    }

    fn norm_activation(
        options: NormActivation,
        x: Tensor<Self, 2>,
        mask: Option<Tensor<Self, 2>>,
    ) -> (Tensor<Self, 2>, NormActivationSaved<Self>) {
        if x.dtype() == DType::F32 {
            norm_activation::forward(options, x, mask)
        } else {
            composed_norm_activation(options, x, mask)
        }
    }

    fn norm_activation_backward(
        options: NormActivation,
        saved: NormActivationSaved<Self>,
        gradient: Tensor<Self, 2>,
    ) -> Tensor<Self, 2> {
        if gradient.dtype() == DType::F32 {
            norm_activation::backward(options, saved, gradient)
        } else {
            composed_norm_activation_backward(options, saved, gradient)
        }
    }
}

fn floats(x: Tensor<Flex, 2>) -> FlexTensor {
    x.into_primitive().tensor().to_contiguous()
}

fn tensor(values: Vec<f32>, shape: [usize; 2]) -> Tensor<Flex, 2> {
    wrap(FlexTensor::new(
        Bytes::from_elems(values),
        Layout::contiguous(Shape::new(shape)),
        DType::F32,
    ))
}

fn wrap(x: FlexTensor) -> Tensor<Flex, 2> {
    Tensor::from_primitive(TensorPrimitive::Float(x))
}
