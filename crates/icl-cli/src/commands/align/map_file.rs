//! The file of a map.

use std::path::Path;

use anyhow::anyhow;
use icl_core::InputFile;
use icl_eval::{AlignmentMap, HiddenLayer};
use icl_models::{StoredTensor, safetensors_bytes};
use safetensors::{Dtype, SafeTensors};

use super::fitted::Fitted;
use crate::options::choice;
use crate::process::failure::Failure;

/// Size of the largest file that is read, in bytes: 2 GiB.
const MAX_BYTES: u64 = 2 << 30;

/// Names of the tensors of a hidden layer: `[d_old, d_hidden]`, `[d_hidden]` and `[d_hidden, d_new]`.
const HIDDEN: [&str; 3] = ["hidden.weights", "hidden.offset", "hidden.output"];

/// Keys of the digests of the old and of the new encoder.
const ENCODERS: [&str; 2] = ["from", "to"];

/// Map that was read from a file.
pub struct StoredMap {
    pub map: AlignmentMap,
    /// Digests of the old and of the new encoder, where they are known.
    pub encoders: [Option<String>; 2],
}

/// Returns the bytes of a map: the tensors `weights` `[d_old, d_new]` and `offset` `[d_new]`, with a hidden layer
/// `hidden.weights` `[d_old, d_hidden]`, `hidden.offset` `[d_hidden]` and `hidden.output` `[d_hidden, d_new]`, and of
/// the rows that it was fitted to and measured on, `distances` `[n]` and `order` `[n]`. The metadata hold the digests
/// of the old and of the new encoder where they are known.
///
/// # Errors
/// If the header cannot be written.
pub fn bytes(fitted: &Fitted, encoders: [Option<&str>; 2]) -> Result<Vec<u8>, Failure> {
    let single = |values: &[f64]| {
        values
            .iter()
            .map(|value| *value as f32)
            .collect::<Vec<f32>>()
    };
    let map = &fitted.map;
    let order: Vec<i64> = fitted.order.iter().map(|row| *row as i64).collect();
    let (d_old, d_new, n) = (map.d_old(), map.d_new(), order.len());
    let mut tensors = vec![
        StoredTensor::of_f32("weights", vec![d_old, d_new], &single(map.weights())),
        StoredTensor::of_f32("offset", vec![d_new], &single(map.offset())),
        StoredTensor::of_f32("distances", vec![n], &single(&fitted.distances)),
        StoredTensor::of_i64("order", vec![n], &order),
    ];
    if let Some(hidden) = map.hidden() {
        let d_hidden = hidden.d_hidden();
        let shapes = [vec![d_old, d_hidden], vec![d_hidden], vec![d_hidden, d_new]];
        let parts = [hidden.weights(), hidden.offset(), hidden.output()];
        for ((name, shape), part) in HIDDEN.into_iter().zip(shapes).zip(parts) {
            tensors.push(StoredTensor::of_f32(name, shape, &single(part)));
        }
    }
    let ridge = map
        .ridge()
        .map_or_else(String::new, |ridge| format!("{ridge:e}"));
    let counts = [fitted.n_fitted, fitted.n_held_out].map(|n| n.to_string());
    let mut metadata = vec![
        ("form", choice::name(&fitted.form)),
        ("ridge", &ridge),
        ("n_fitted", &counts[0]),
        ("n_held_out", &counts[1]),
    ];
    let known = ENCODERS.into_iter().zip(encoders);
    metadata.extend(known.filter_map(|(key, digest)| Some((key, digest?))));
    safetensors_bytes(&metadata, &tensors).map_err(Failure::input)
}

/// Reads a map.
///
/// # Errors
/// If the file cannot be read or is no map.
pub fn read(path: &Path) -> Result<StoredMap, Failure> {
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
    let metadata = SafeTensors::read_metadata(&bytes).ok();
    let metadata = metadata.and_then(|(_, header)| header.metadata().clone());
    let stored = |map| StoredMap {
        map,
        encoders: ENCODERS.map(|key| metadata.as_ref()?.get(key).cloned()),
    };
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
    let (d_old, d_new) = match (&shape[..], &of_offset[..]) {
        (&[d_old, d_new], &[d]) if d == d_new && d_old > 0 && d > 0 => (d_old, d_new),
        _ => {
            return Err(wrong(
                format!("weights of shape {shape:?} and an offset of shape {of_offset:?}"),
                "[d_old, d_new] and [d_new]",
            ));
        }
    };
    let map = AlignmentMap::from_parts(weights, offset);
    if !HIDDEN.iter().any(|name| tensors.tensor(name).is_ok()) {
        return Ok(stored(map));
    }
    let [of_weights, of_offset, of_output] = HIDDEN;
    let (weights, offset, output) = (tensor(of_weights)?, tensor(of_offset)?, tensor(of_output)?);
    let d_hidden = offset.1.len();
    let expected = (vec![d_old, d_hidden], vec![d_hidden], vec![d_hidden, d_new]);
    let shapes = (weights.0, offset.0, output.0);
    match shapes == expected && d_hidden > 0 {
        true => {
            let layer = HiddenLayer::from_parts(weights.1, offset.1, output.1);
            Ok(stored(map.with_hidden(layer)))
        }
        false => Err(wrong(
            format!(
                "a hidden layer of shapes {:?}, {:?} and {:?}",
                shapes.0, shapes.1, shapes.2
            ),
            &format!("[{d_old}, d_hidden], [d_hidden] and [d_hidden, {d_new}]"),
        )),
    }
}
