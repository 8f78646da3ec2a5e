//! The safetensors format, written so that the same tensors give the same bytes.
//!
//! The crate `safetensors` writes metadata in the order of a hash map, which differs from run to
//! run.

use icl_core::Error;
use serde_json::{Map, Value, json};

/// Largest header in bytes that readers of the format take. Names of items and words are in the header.
const MAX_HEADER: usize = 100_000_000;

/// Tensor as a safetensors file stores it.
#[derive(Debug)]
pub struct StoredTensor {
    /// Name.
    pub name: String,
    /// Type of the elements in the words of the format: `F32`, `I64`.
    pub dtype: &'static str,
    /// Shape.
    pub shape: Vec<usize>,
    /// Elements in row-major order, little-endian.
    pub bytes: Vec<u8>,
}

impl StoredTensor {
    /// Returns a tensor of single precision.
    pub fn of_f32(name: impl Into<String>, shape: Vec<usize>, values: &[f32]) -> Self {
        Self {
            name: name.into(),
            dtype: "F32",
            shape,
            bytes: values.iter().flat_map(|x| x.to_le_bytes()).collect(),
        }
    }

    /// Returns a tensor of 64-bit integers.
    pub fn of_i64(name: impl Into<String>, shape: Vec<usize>, values: &[i64]) -> Self {
        Self {
            name: name.into(),
            dtype: "I64",
            shape,
            bytes: values.iter().flat_map(|x| x.to_le_bytes()).collect(),
        }
    }
}

/// Returns tensors with the counts that PyTorch's state dicts have after each variance of a normalisation,
/// `num_batches_tracked`: 0, for encoders do not count. PyTorch reads it only where a layer has no momentum.
#[cfg(feature = "weights")]
pub(crate) fn with_counts(tensors: Vec<StoredTensor>) -> Vec<StoredTensor> {
    let with_count = |tensor: StoredTensor| {
        let layer = tensor.name.strip_suffix("running_var");
        let count = layer.map(|layer| format!("{layer}num_batches_tracked"));
        let count = count.map(|name| StoredTensor::of_i64(name, Vec::new(), &[0]));
        std::iter::once(tensor).chain(count)
    };
    tensors.into_iter().flat_map(with_count).collect()
}

/// Returns the bytes of a safetensors file of these tensors, in this order, with metadata. The same tensors give the same
/// bytes.
///
/// # Errors
/// If the header cannot be written as JSON, or has more than 100 MB.
pub fn safetensors_bytes(
    metadata: &[(&str, &str)],
    tensors: &[StoredTensor],
) -> Result<Vec<u8>, Error> {
    let mut header = Map::new();
    let metadata = metadata
        .iter()
        .map(|&(key, value)| (key.into(), value.into()));
    header.insert("__metadata__".into(), Value::Object(metadata.collect()));
    let mut end = 0;
    for tensor in tensors {
        let begin = end;
        end += tensor.bytes.len();
        let info = json!({
            "dtype": tensor.dtype,
            "shape": tensor.shape,
            "data_offsets": [begin, end],
        });
        header.insert(tensor.name.clone(), info);
    }
    let mut header = serde_json::to_vec(&header)
        .map_err(|error| Error::message(format!("the header cannot be written: {error}")))?;
    if header.len() > MAX_HEADER {
        return Err(Error::new(
            "encoder",
            format!("{} bytes of names and configuration", header.len()),
            format!("at most {MAX_HEADER}, which a safetensors file takes"),
        ));
    }
    // Padding, so that the numbers begin at a multiple of 8.
    header.resize(header.len().next_multiple_of(8), b' ');
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header);
    for tensor in tensors {
        bytes.extend(&tensor.bytes);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    use safetensors::{Dtype, SafeTensors};

    #[test]
    fn a_header_that_no_reader_takes_is_an_error() {
        let long = "x".repeat(MAX_HEADER - 40);
        let file = safetensors_bytes(&[("a", &long)], &[]).unwrap();
        assert!(SafeTensors::read_metadata(&file).is_ok());
        let error = safetensors_bytes(&[("a", &long), ("b", "0123456789")], &[]).unwrap_err();
        assert!(error.to_string().starts_with("encoder: found 1"), "{error}");
    }

    #[test]
    fn the_crate_of_the_format_reads_it() {
        let tensors = [
            StoredTensor::of_i64("b", vec![3], &[1, -2, i64::MAX]),
            StoredTensor::of_f32("a", vec![2, 1], &[0.5, -3.0]),
        ];
        let metadata = [("z", "1"), ("a", "ä \"quoted\"")];
        let file = safetensors_bytes(&metadata, &tensors).unwrap();
        assert_eq!(file, safetensors_bytes(&metadata, &tensors).unwrap());
        let (_, header) = SafeTensors::read_metadata(&file).unwrap();
        let found = header.metadata().as_ref().unwrap();
        assert_eq!(found["a"], "ä \"quoted\"");
        assert_eq!(found["z"], "1");
        let read = SafeTensors::deserialize(&file).unwrap();
        let a = read.tensor("a").unwrap();
        assert_eq!((a.dtype(), a.shape()), (Dtype::F32, &[2, 1][..]));
        assert_eq!(
            a.data(),
            [0.5_f32.to_le_bytes(), (-3.0_f32).to_le_bytes()].concat()
        );
        let b = read.tensor("b").unwrap();
        assert_eq!((b.dtype(), b.shape()), (Dtype::I64, &[3][..]));
        assert_eq!(b.data()[16..], i64::MAX.to_le_bytes());
    }
}
