//! Tensors as slices of numbers, which kernels read.

use std::ops::Deref;

use burn::tensor::{Bytes, DType, Shape, Tensor, TensorPrimitive};
use burn_flex::{Flex, FlexTensor, Layout};

/// The numbers of a tensor in single precision, row after row.
#[derive(Debug, Clone)]
pub(crate) struct Floats(FlexTensor);

impl Floats {
    pub(crate) fn of<const D: usize>(x: Tensor<Flex, D>) -> Self {
        let x = x.into_primitive().tensor();
        Self(match x.layout().contiguous_offsets() {
            Some(_) => x,
            None => x.to_contiguous(),
        })
    }

    /// Converts the numbers back to a tensor.
    pub(crate) fn tensor<const D: usize>(self) -> Tensor<Flex, D> {
        wrap(self.0)
    }
}

impl Deref for Floats {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        let (first, end) = self.0.layout().contiguous_offsets().unwrap_or_default();
        &self.0.storage()[first..end]
    }
}

pub(crate) fn tensor<const D: usize>(values: Vec<f32>, shape: [usize; D]) -> Tensor<Flex, D> {
    wrap(FlexTensor::new(
        Bytes::from_elems(values),
        Layout::contiguous(Shape::new(shape)),
        DType::F32,
    ))
}

pub(super) fn wrap<const D: usize>(x: FlexTensor) -> Tensor<Flex, D> {
    Tensor::from_primitive(TensorPrimitive::Float(x))
}
