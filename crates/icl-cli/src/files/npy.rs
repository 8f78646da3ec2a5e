//! Arrays in NumPy's file format.

use std::path::{Path, PathBuf};

use npyz::{NpyFile, Order};

/// An array `[n_rows, n_columns]` read from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Number of rows.
    pub n_rows: usize,
    /// Number of columns.
    pub n_columns: usize,
    /// Values, row by row.
    pub values: Vec<f64>,
}

/// Error of a file of embeddings.
#[derive(Debug, thiserror::Error)]
#[error("{}: found {found}, expected {expected}", path.display())]
pub struct EmbeddingsError {
    path: PathBuf,
    found: String,
    expected: &'static str,
}

/// Reads embeddings of f32 or f64, in either memory order.
///
/// # Errors
/// If the file cannot be read, is truncated, or holds another type or shape, no row or no column, or a value
/// that is not finite.
pub fn read(path: &Path) -> Result<Array, EmbeddingsError> {
    let error = |found: String, expected| EmbeddingsError {
        path: path.to_owned(),
        found,
        expected,
    };
    let bytes = std::fs::read(path).map_err(|cause| {
        error(
            format!("no readable file ({cause})"),
            "a .npy file or a table of numbers",
        )
    })?;
    let mut rest = &bytes[..];
    let header = npyz::NpyHeader::from_reader(&mut rest).map_err(|cause| {
        error(
            format!("no NumPy header ({cause})"),
            "a .npy file or a table of numbers",
        )
    })?;
    let &[n_rows, n_columns] = header.shape() else {
        return Err(error(
            format!("shape {:?}", header.shape()),
            "two dimensions, [n, d]",
        ));
    };
    if n_rows == 0 || n_columns == 0 {
        return Err(error(
            format!("shape [{n_rows}, {n_columns}]"),
            "at least one row and one column",
        ));
    }
    let descriptor = header.dtype().descr();
    let width = match &descriptor {
        f32s if f32s.ends_with("f4'") => 4,
        f64s if f64s.ends_with("f8'") => 8,
        _ => return Err(error(format!("type {descriptor}"), "f32 or f64")),
    };
    let needed = u128::from(n_rows) * u128::from(n_columns) * width;
    if (rest.len() as u128) < needed {
        return Err(error(
            format!("{} bytes of values", rest.len()),
            "as many as its header says: the file is truncated",
        ));
    }
    let order = header.order();
    let file = NpyFile::with_header(header, rest);
    let values: std::io::Result<Vec<f64>> = if width == 4 {
        file.into_vec::<f32>()
            .map(|values| values.into_iter().map(f64::from).collect())
    } else {
        file.into_vec::<f64>()
    };
    let values = values.map_err(|cause| error(cause.to_string(), "f32 or f64"))?;
    let (n_rows, n_columns) = (n_rows as usize, n_columns as usize);
    let values = match order {
        Order::C => values,
        Order::Fortran => (0..n_rows * n_columns)
            .map(|at| values[at % n_columns * n_rows + at / n_columns])
            .collect(),
    };
    if let Some(at) = values.iter().position(|value| !value.is_finite()) {
        let (row, column) = (at / n_columns, at % n_columns);
        return Err(error(
            format!(
                "{} in row {row}, column {column} (counted from 0)",
                values[at]
            ),
            "finite numbers",
        ));
    }
    Ok(Array {
        n_rows,
        n_columns,
        values,
    })
}
