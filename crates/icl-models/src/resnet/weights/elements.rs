//! Floating-point elements as files hold them, little-endian.

use burn::tensor::{bf16, f16};

/// The type of the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    F16,
    Bf16,
    F32,
    F64,
}

impl Element {
    /// The bytes that one takes.
    pub(super) fn size(self) -> usize {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// The values in single precision. Bytes behind the last whole element do not count.
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
