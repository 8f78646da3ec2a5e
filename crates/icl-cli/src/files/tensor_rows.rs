//! Rows of numbers in a `.safetensors` file.

use std::path::{Path, PathBuf};

use icl_core::InputFile;
use icl_data::Found;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

/// Size of the largest file that is read, in bytes: 2 GiB.
const MAX_BYTES: u64 = 2 << 30;
/// Name of the tensor that is preferred to others.
const NAME: &str = "embeddings";

/// A tensor `[n_rows, n_columns]` read from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorRows {
    /// Number of rows.
    pub n_rows: usize,
    /// Number of columns.
    pub n_columns: usize,
    /// Values, row by row.
    pub values: Vec<f64>,
}

/// Error of a file of tensors.
#[derive(Debug, thiserror::Error)]
#[error("{}: found {found}, expected {expected}", path.display())]
pub struct TensorRowsError {
    path: PathBuf,
    found: String,
    expected: &'static str,
}

/// Reads the tensor named `embeddings`, or the only tensor with two dimensions, of f32 or f64.
///
/// # Errors
/// If the file cannot be read, is no regular file, has more than 2 GiB, is damaged, has no such tensor or several, or if the
/// tensor has another type or shape, no row or no column, or a value that is not finite.
pub fn read(path: &Path) -> Result<TensorRows, TensorRowsError> {
    let error = |found: String, expected| TensorRowsError {
        path: path.to_owned(),
        found,
        expected,
    };
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
    let values: Vec<f64> = match tensor.dtype() {
        Dtype::F32 => {
            let parts = data.as_chunks().0.iter();
            parts.map(|it| f64::from(f32::from_le_bytes(*it))).collect()
        }
        Dtype::F64 => {
            let parts = data.as_chunks().0.iter();
            parts.map(|it| f64::from_le_bytes(*it)).collect()
        }
        other => return Err(error(format!("type {other:?}"), "F32 or F64")),
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
    })
}

/// Returns the tensor of embeddings, or what was found instead.
fn chosen<'a>(tensors: &SafeTensors<'a>) -> Result<TensorView<'a>, String> {
    if let Ok(tensor) = tensors.tensor(NAME) {
        return Ok(tensor);
    }
    let tensors = tensors.tensors();
    let mut matrices = tensors
        .into_iter()
        .filter(|(_, tensor)| tensor.shape().len() == 2);
    match (matrices.next(), matrices.next()) {
        (Some((_, tensor)), None) => Ok(tensor),
        (None, _) => Err("no tensor with two dimensions".to_owned()),
        (Some((first, _)), Some((second, _))) => Err(format!(
            "several tensors with two dimensions ({} and {})",
            Found::new(&first),
            Found::new(&second)
        )),
    }
}
