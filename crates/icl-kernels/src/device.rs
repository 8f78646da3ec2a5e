//! Properties of devices, and values on the host.

use burn::tensor::{DType, Tensor, TensorData, backend::Backend};

/// Returns the elements of a float tensor in double precision, row after row.
///
/// # Panics
/// If the device cannot be read.
pub fn host_values<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> Vec<f64> {
    let values = tensor.into_data().convert::<f64>().into_vec();
    values.expect("float data converts to f64")
}

/// Asks the allocator to keep freed memory instead of returning it to the system.
///
/// Memory that was returned has to be fetched again, page by page, in the next training step; where
/// steps are short, that takes as long as the arithmetic. Only the first call has an effect. The
/// CPU kernels of this project call it themselves.
///
/// The allocator of glibc returns freed memory above a threshold, which it raises to the size of the
/// largest mapping that was ever freed, up to 32 MiB. This function frees one of that size, without
/// touching it. Other allocators ignore it.
#[cfg(any(feature = "flex", feature = "tch"))]
pub(crate) fn keep_freed_memory() {
    /// A little less than the limit, to which the allocator adds its own bookkeeping.
    const LARGEST: usize = (32 << 20) - (64 << 10);
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| drop(std::hint::black_box(vec![0_u8; LARGEST])));
}

/// Returns whether a device calculates correctly in double precision.
///
/// It does if it holds such numbers and computes their exponentials and logarithms to within 10⁻¹⁴.
/// The second part is tested on two values: Vulkan defines both functions for single precision only,
/// and a driver that adds and multiplies in double precision reports support for it, although the
/// losses that it then computes are meaningless.
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
    fn the_default_backend_has_double_precision() {
        assert!(has_double_precision::<Flex>(&Default::default()));
    }
}
