//! Files of named tensors, and the types of their elements.

use std::collections::BTreeMap;

use burn::tensor::{bf16, f16};
use icl_core::Error;
use safetensors::{Dtype, SafeTensors};

use super::error::safetensors;

/// A file of named tensors.
pub(super) trait StateDict {
    /// Returns the shapes of the tensors by their names.
    fn shapes(&self) -> BTreeMap<String, Vec<usize>>;

    /// Returns the values of a tensor, row after row.
    fn values(&mut self, name: &str) -> Result<Vec<f32>, Unread>;
}

/// Reason why the values of a tensor cannot be read.
#[derive(Debug)]
pub(super) enum Unread {
    /// Its elements are of this type, not floating-point numbers.
    Elements(String),
    /// The file is damaged.
    File(Error),
}

impl From<Error> for Unread {
    fn from(error: Error) -> Self {
        Self::File(error)
    }
}

impl StateDict for SafeTensors<'_> {
    fn shapes(&self) -> BTreeMap<String, Vec<usize>> {
        self.iter()
            .map(|(name, tensor)| (name.to_owned(), tensor.shape().to_vec()))
            .collect()
    }

    fn values(&mut self, name: &str) -> Result<Vec<f32>, Unread> {
        let tensor = self.tensor(name).map_err(safetensors)?;
        let element = match tensor.dtype() {
            Dtype::F16 => Element::F16,
            Dtype::BF16 => Element::Bf16,
            Dtype::F32 => Element::F32,
            Dtype::F64 => Element::F64,
            other => return Err(Unread::Elements(format!("{other:?}"))),
        };
        Ok(element.decode(tensor.data()))
    }
}

/// Type of the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    F16,
    Bf16,
    F32,
    F64,
}

impl Element {
    /// Number of bytes of an element.
    pub(super) fn size(self) -> usize {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// Converts elements to single precision. Bytes after the last whole element are ignored.
    pub(super) fn decode(self, bytes: &[u8]) -> Vec<f32> {
        match self {
            Self::F16 => each(bytes, |bytes| f16::from_le_bytes(bytes).to_f32()),
            Self::Bf16 => each(bytes, |bytes| bf16::from_le_bytes(bytes).to_f32()),
            Self::F32 => each(bytes, f32::from_le_bytes),
            Self::F64 => each(bytes, |bytes| f64::from_le_bytes(bytes) as f32),
        }
    }
}

fn each<const N: usize>(bytes: &[u8], decode: impl Fn([u8; N]) -> f32) -> Vec<f32> {
    let (elements, _) = bytes.as_chunks::<N>();
    elements.iter().map(|bytes| decode(*bytes)).collect()
}
