//! Embeddings in files of any framework: NumPy arrays, tensors, columns of vectors and tables of numbers.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_data::{TableOptions, VectorColumn, looks_like_table, read_table, read_vectors};

use crate::files::npy;
use crate::files::tensor_rows;
use crate::files::tensor_rows::TensorRows;
use crate::process::failure::Failure;
use crate::process::terminal::{tell, tell_notes};

/// Embeddings `[n_rows, n_columns]` read from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEmbeddings {
    /// Path of the file.
    pub path: PathBuf,
    /// Number of rows.
    pub n_rows: usize,
    /// Number of columns.
    pub n_columns: usize,
    /// Values, row by row.
    pub values: Vec<f64>,
}

/// Columns of a table of embeddings that `icl embed` writes besides them.
const BESIDE: [&str; 2] = ["index", "label"];

/// Reads embeddings from a `.npy` file of f16, f32 or f64, from a `.safetensors` file, from the column of vectors of a `.parquet` file, or
/// from a table of numbers (`.csv`, `.tsv`, also with `.gz`, or `.parquet`), whose columns `index` and `label` and those that number
/// the rows are left out.
///
/// # Errors
/// If the file cannot be read, or holds no row, no column, or a value that is not a finite number.
pub fn read(path: &Path) -> Result<StoredEmbeddings, Failure> {
    let stored = |n_rows, n_columns, values| StoredEmbeddings {
        path: path.to_owned(),
        n_rows,
        n_columns,
        values,
    };
    let has_ending = |ending: &str| {
        let found = path.extension().and_then(|found| found.to_str());
        found.is_some_and(|found| found.eq_ignore_ascii_case(ending))
    };
    if has_ending("safetensors") {
        let TensorRows {
            n_rows,
            n_columns,
            values,
        } = tensor_rows::read(path).map_err(Failure::input)?;
        return Ok(stored(n_rows, n_columns, values));
    }
    if !looks_like_table(path) {
        let npy::Array {
            n_rows,
            n_columns,
            values,
        } = npy::read(path).map_err(Failure::input)?;
        return Ok(stored(n_rows, n_columns, values));
    }
    if has_ending("parquet")
        && let Some(vectors) = read_vectors(path).map_err(Failure::input)?
    {
        let VectorColumn { n_rows, d, values } = vectors;
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            return Err(Failure::input(anyhow!(
                "{}: found {} in row {}, column {} (counted from 0), expected finite numbers",
                path.display(),
                values[at],
                at / d,
                at % d
            )));
        }
        return Ok(stored(n_rows, d, values));
    }
    let whole = read_table(path, &TableOptions::default()).map_err(Failure::input)?;
    let index = whole.index_columns();
    tell_notes(whole.name(), whole.notes());
    for name in index.iter().filter(|name| !BESIDE.contains(name)) {
        tell(format_args!(
            "note: {}: column {name} numbers the rows, and is left out",
            whole.name()
        ));
    }
    let table = whole.without(&[&BESIDE[..], &index].concat());
    let n_columns = table.column_names().len();
    if n_columns == 0 {
        return Err(Failure::input(anyhow!(
            "{}: found no column of embeddings, expected at least one",
            path.display()
        )));
    }
    let values = table.numbers().map_err(Failure::input)?;
    let values = values.into_iter().map(f64::from).collect();
    Ok(stored(table.n_rows(), n_columns, values))
}
