//! Rows of numbers in a `.safetensors` file.

use std::path::Path;

use burn::tensor::{bf16, f16};
use icl_core::{Error, InputFile};
use icl_data::Found;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::de::DeserializeOwned;

use crate::files::row_facts::RowFacts;

/// Size of the largest file that is read, in bytes: 2 GiB.
const MAX_BYTES: u64 = 2 << 30;
/// Name of the tensor that is preferred to others.
const NAME: &str = "embeddings";
/// Number of names that an error shows.
const MAX_SHOWN: usize = 5;

/// A tensor `[n_rows, n_columns]` read from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorRows {
    /// Number of rows.
    pub n_rows: usize,
    /// Number of columns.
    pub n_columns: usize,
    /// Values, row by row.
    pub values: Vec<f64>,
    /// Facts about the rows.
    pub facts: RowFacts,
}

/// Reads the tensor named `embeddings`, or the only tensor with two dimensions, of 16, 32 or 64-bit
/// floating-point numbers.
///
/// # Errors
/// If the file cannot be read, is no regular file, has more than 2 GiB, is damaged, has no such tensor or several, or if the
/// tensor has another type or shape, no row or no column, or a value that is not finite.
pub fn read(path: &Path) -> Result<TensorRows, Error> {
    let error = |found: String, expected: &str| Error::new(path.display(), found, expected);
    let bytes = InputFile::open(path, MAX_BYTES).and_then(InputFile::bytes);
    let bytes = bytes.map_err(|cause| {
        error(
            format!("no readable file ({cause})"),
            "a .safetensors file of embeddings",
        )
    })?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(|cause| {
        error(
            format!("a file that cannot be read ({cause})"),
            "an intact .safetensors file",
        )
    })?;
    let tensor = chosen(&tensors).map_err(|found| {
        error(
            found,
            "one tensor with two dimensions, [n, d], or one named embeddings",
        )
    })?;
    let &[n_rows, n_columns] = tensor.shape() else {
        return Err(error(
            format!("shape {:?} of embeddings", tensor.shape()),
            "two dimensions, [n, d]",
        ));
    };
    if n_rows == 0 || n_columns == 0 {
        return Err(error(
            format!("shape [{n_rows}, {n_columns}]"),
            "at least one row and one column",
        ));
    }
    let data = tensor.data();
    let values = match tensor.dtype() {
        Dtype::F16 => each(data, |bytes| f16::from_le_bytes(bytes).to_f64()),
        Dtype::BF16 => each(data, |bytes| bf16::from_le_bytes(bytes).to_f64()),
        Dtype::F32 => each(data, |bytes| f64::from(f32::from_le_bytes(bytes))),
        Dtype::F64 => each(data, f64::from_le_bytes),
        other => return Err(error(format!("type {other:?}"), "F16, BF16, F32 or F64")),
    };
    if let Some(at) = values.iter().position(|value| !value.is_finite()) {
        let found = format!(
            "{} in row {}, column {} (counted from 0)",
            values[at],
            at / n_columns,
            at % n_columns
        );
        return Err(error(found, "finite numbers"));
    }
    Ok(TensorRows {
        n_rows,
        n_columns,
        values,
        facts: facts(&bytes),
    })
}

/// Returns what the metadata of a file say about its rows.
fn facts(bytes: &[u8]) -> RowFacts {
    let header = SafeTensors::read_metadata(bytes).ok();
    let metadata = header.and_then(|(_, header)| header.metadata().clone());
    let metadata = metadata.unwrap_or_default();
    let tensors = SafeTensors::deserialize(bytes).ok();
    let labels = tensors.and_then(|it| labels(&it.tensor("labels").ok()?));
    RowFacts {
        encoder: metadata.get("encoder").cloned(),
        data: metadata.get("data").cloned(),
        ids: json(metadata.get("ids")),
        // Of another program, numbers of classes without names are none of these facts.
        labels: labels.filter(|_| metadata.contains_key("classes")),
        classes: json(metadata.get("classes")).unwrap_or_default(),
        columns: json(metadata.get("columns")).unwrap_or_default(),
    }
}

/// Returns a value of the metadata, if it is what icl writes.
fn json<T: DeserializeOwned>(text: Option<&String>) -> Option<T> {
    text.and_then(|text| serde_json::from_str(text).ok())
}

/// Returns the labels of rows, if they are places among names.
fn labels(tensor: &TensorView<'_>) -> Option<Vec<usize>> {
    if tensor.dtype() != Dtype::I64 {
        return None;
    }
    let (labels, _) = tensor.data().as_chunks::<8>();
    let labels = labels.iter().map(|bytes| i64::from_le_bytes(*bytes));
    labels.map(|label| usize::try_from(label).ok()).collect()
}

fn each<const N: usize>(bytes: &[u8], decode: impl Fn([u8; N]) -> f64) -> Vec<f64> {
    let (elements, _) = bytes.as_chunks::<N>();
    elements.iter().map(|bytes| decode(*bytes)).collect()
}

/// Returns the tensor of embeddings, or what was found instead.
fn chosen<'a>(tensors: &SafeTensors<'a>) -> Result<TensorView<'a>, String> {
    if let Ok(tensor) = tensors.tensor(NAME) {
        return Ok(tensor);
    }
    let tensors = tensors.tensors();
    let mut shown: Vec<&str> = tensors.iter().map(|(name, _)| &name[..]).collect();
    shown.sort_unstable();
    shown.truncate(MAX_SHOWN);
    let shown: Vec<String> = shown.iter().map(|it| Found::new(it).to_string()).collect();
    let mut matrices = tensors
        .iter()
        .filter(|(_, tensor)| tensor.shape().len() == 2);
    match (matrices.next(), matrices.next()) {
        (Some((_, tensor)), None) => Ok(tensor.clone()),
        (None, _) if shown.is_empty() => Err("no tensor".to_owned()),
        (None, _) => Err(format!(
            "no tensor with two dimensions among {}",
            shown.join(", ")
        )),
        (Some((first, _)), Some((second, _))) => Err(format!(
            "several tensors with two dimensions ({} and {})",
            Found::new(first),
            Found::new(second)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use safetensors::serialize_to_file;

    #[test]
    fn numbers_of_all_sizes_are_read() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a.safetensors");
        let write = |tensors: &[(&str, Dtype, Vec<usize>, Vec<u8>)]| {
            let view =
                |(name, dtype, shape, bytes)| (name, TensorView::new(dtype, shape, bytes).unwrap());
            let views = tensors
                .iter()
                .map(|(name, dtype, shape, bytes)| view((*name, *dtype, shape.clone(), bytes)));
            serialize_to_file(views, None, &path).unwrap();
        };
        // 1.5 and −2 in each type.
        for (dtype, bytes) in [
            (Dtype::F16, vec![0x00, 0x3e, 0x00, 0xc0]),
            (Dtype::BF16, vec![0xc0, 0x3f, 0x00, 0xc0]),
            (Dtype::F32, [1.5_f32, -2.0].map(f32::to_le_bytes).concat()),
            (Dtype::F64, [1.5_f64, -2.0].map(f64::to_le_bytes).concat()),
        ] {
            write(&[("a", dtype, vec![2, 1], bytes)]);
            assert_eq!(read(&path).unwrap().values, [1.5, -2.0], "{dtype:?}");
        }
        write(&[("weights", Dtype::F16, vec![2], vec![0; 4])]);
        let message = read(&path).unwrap_err().to_string();
        assert!(
            message.contains("found no tensor with two dimensions among \"weights\", expected"),
            "{message}"
        );
    }
}
