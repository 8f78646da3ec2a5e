//! The file of a map.

use std::path::Path;

use anyhow::anyhow;
use icl_core::InputFile;
use icl_eval::AlignmentMap;
use icl_models::{StoredTensor, safetensors_bytes};
use safetensors::{Dtype, SafeTensors};

use super::fitted::Fitted;
use crate::process::failure::Failure;

/// Size of the largest file that is read, in bytes: 2 GiB.
const MAX_BYTES: u64 = 2 << 30;

/// Returns the bytes of a map: the tensors `weights` `[d_old, d_new]` and `offset` `[d_new]`, and of the rows that it was fitted
/// to and measured on, `distances` `[n]` and `order` `[n]`.
///
/// # Errors
/// If the header cannot be written.
pub fn bytes(form: &str, fitted: &Fitted) -> Result<Vec<u8>, Failure> {
    let single = |values: &[f64]| {
        values
            .iter()
            .map(|value| *value as f32)
            .collect::<Vec<f32>>()
    };
    let map = &fitted.map;
    let order: Vec<i64> = fitted.order.iter().map(|row| *row as i64).collect();
    let (d_old, d_new, n) = (map.d_old(), map.d_new(), order.len());
    let tensors = [
        StoredTensor::of_f32("weights", vec![d_old, d_new], &single(map.weights())),
        StoredTensor::of_f32("offset", vec![d_new], &single(map.offset())),
        StoredTensor::of_f32("distances", vec![n], &single(&fitted.distances)),
        StoredTensor::of_i64("order", vec![n], &order),
    ];
    let ridge = map
        .ridge()
        .map_or_else(String::new, |ridge| format!("{ridge:e}"));
    let counts = [fitted.n_fitted, fitted.n_held_out].map(|n| n.to_string());
    let metadata = [
        ("form", form),
        ("ridge", &ridge),
        ("n_fitted", &counts[0]),
        ("n_held_out", &counts[1]),
    ];
    safetensors_bytes(&metadata, &tensors).map_err(Failure::input)
}

/// Reads a map.
///
/// # Errors
/// If the file cannot be read or is no map.
pub fn read(path: &Path) -> Result<AlignmentMap, Failure> {
    let wrong = |found: String, expected: &str| {
        Failure::input(anyhow!(
            "{}: found {found}, expected {expected}",
            path.display()
        ))
    };
    let of_align = "a map that icl align wrote";
    let bytes = InputFile::open(path, MAX_BYTES).and_then(InputFile::bytes);
    let bytes = bytes.map_err(|cause| wrong(format!("no readable file ({cause})"), of_align))?;
    let tensors = SafeTensors::deserialize(&bytes)
        .map_err(|cause| wrong(format!("a file that cannot be read ({cause})"), of_align))?;
    let tensor = |name: &str| {
        let tensor = tensors
            .tensor(name)
            .map_err(|_| wrong(format!("no tensor {name}"), of_align))?;
        if tensor.dtype() != Dtype::F32 {
            return Err(wrong(format!("{name} of {:?}", tensor.dtype()), "F32"));
        }
        let parts = tensor.data().as_chunks().0.iter();
        let values: Vec<f64> = parts.map(|it| f64::from(f32::from_le_bytes(*it))).collect();
        match values.iter().find(|value| !value.is_finite()) {
            Some(value) => Err(wrong(format!("{value} in {name}"), "finite numbers")),
            None => Ok((tensor.shape().to_vec(), values)),
        }
    };
    let ((shape, weights), (of_offset, offset)) = (tensor("weights")?, tensor("offset")?);
    match (&shape[..], &of_offset[..]) {
        (&[d_old, d_new], &[d]) if d == d_new && d_old > 0 && d > 0 => {
            Ok(AlignmentMap::from_parts(weights, offset))
        }
        _ => Err(wrong(
            format!("weights of shape {shape:?} and an offset of shape {of_offset:?}"),
            "[d_old, d_new] and [d_new]",
        )),
    }
}
