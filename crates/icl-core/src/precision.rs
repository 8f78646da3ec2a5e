//! What a device calculates in.

use burn::tensor::{DType, Tensor, TensorData, backend::Backend};

use crate::host_values;

/// Whether a device calculates in double precision: it holds such numbers, and its exponentials and
/// logarithms of them are right.
///
/// Vulkan has both functions for single precision only. A driver that can add and multiply in double
/// precision says that it supports it, and what losses come out is no number at all.
pub fn has_double_precision<B: Backend>(device: &B::Device) -> bool {
    if !B::supports_dtype(device, DType::F64) {
        return false;
    }
    let values = [0.3_f64, -2.0];
    let x = Tensor::<B, 1>::from_data(TensorData::from(values), (device, DType::F64));
    let found = [x.clone().exp(), (x.clone() * x).log()].map(host_values);
    let expected = [values.map(f64::exp), values.map(|x| (x * x).ln())];
    found
        .iter()
        .flatten()
        .zip(expected.iter().flatten())
        .all(|(found, expected)| (found - expected).abs() < 1e-14)
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::backend::Flex;

    #[test]
    fn the_default_backend_has_it() {
        assert!(has_double_precision::<Flex>(&Default::default()));
    }
}
