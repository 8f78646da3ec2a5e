//! From the device to the host.

use burn::tensor::{Tensor, backend::Backend};

/// The elements of a tensor of any float type, row after row, in double precision.
pub fn host_values<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> Vec<f64> {
    let values = tensor.into_data().convert::<f64>().into_vec();
    values.expect("float data converts to f64")
}
