//! The operators as CubeCL kernels, one text for WebGPU, Vulkan and CUDA.
//!
//! A unit reads what it needs and writes its own elements: no atomic additions, and the same bits at
//! every run.

mod sparse_product;

use burn::tensor::{DType, Tensor, TensorPrimitive};
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;
use burn_cubecl::{BoolElement, CubeBackend, CubeRuntime, FloatElement, IntElement};
use icl_core::graph::SparseMatrix;

use super::GraphBackend;
use super::sparse_product::{assert_fits, composed_sparse_product};

impl<R, F, I, BT> GraphBackend for CubeBackend<R, F, I, BT>
where
    R: CubeRuntime,
    F: FloatElement,
    I: IntElement,
    BT: BoolElement,
{
    fn sparse_product(matrix: &SparseMatrix<Self>, x: Tensor<Self, 2>) -> Tensor<Self, 2> {
        if x.dtype() == DType::F32 && matrix.forward.values.dtype() == DType::F32 {
            assert_fits(matrix, &x);
            sparse_product::rows(&matrix.forward, x)
        } else {
            composed_sparse_product(matrix, x)
        }
    }
}

fn floats<R, F, I, BT>(x: Tensor<CubeBackend<R, F, I, BT>, 2>) -> CubeTensor<R>
where
    R: CubeRuntime,
    F: FloatElement,
    I: IntElement,
    BT: BoolElement,
{
    into_contiguous(x.into_primitive().tensor())
}

fn wrap<R, F, I, BT>(x: CubeTensor<R>) -> Tensor<CubeBackend<R, F, I, BT>, 2>
where
    R: CubeRuntime,
    F: FloatElement,
    I: IntElement,
    BT: BoolElement,
{
    Tensor::from_primitive(TensorPrimitive::Float(x))
}
