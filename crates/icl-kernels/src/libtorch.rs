//! Tensors of Burn as those of LibTorch, whose operators Burn does not have, and back.

use burn::backend::LibTorch;
use burn::backend::libtorch::TchTensor;
use burn::tensor::{Tensor, TensorPrimitive};

use crate::device::keep_freed_memory;

/// Returns LibTorch's handle of a tensor. Nothing may be written through it, since Burn does not know of it.
pub(crate) fn handle<const D: usize>(x: Tensor<LibTorch, D>) -> tch::Tensor {
    x.into_primitive().tensor().tensor
}

/// Makes a tensor of a handle that is the only one to its memory: Burn may write there. LibTorch's memory is the
/// allocator's, which keeps it for the next results.
pub(crate) fn tensor<const D: usize>(handle: tch::Tensor) -> Tensor<LibTorch, D> {
    keep_freed_memory();
    Tensor::from_primitive(TensorPrimitive::Float(TchTensor::new(handle)))
}
