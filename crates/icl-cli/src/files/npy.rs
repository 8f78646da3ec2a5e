//! Arrays in NumPy's file format.

use std::path::Path;

use burn::tensor::f16;
use icl_core::{Error, InputFile};
use icl_data::Found;

use crate::files::npy_header::NpyHeader;

/// Size of the largest file that is read, in bytes: 2 GiB.
const MAX_BYTES: u64 = 2 << 30;

/// Number of axes that an error names.
const MAX_SHOWN_AXES: usize = 8;

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

/// Returns the file of an array of this shape in single precision, row after row.
pub fn bytes(shape: [usize; 2], values: &[f32]) -> Vec<u8> {
    let header = NpyHeader {
        descriptor: "<f4".to_owned(),
        is_fortran: false,
        shape: shape.map(|length| length as u64).to_vec(),
    };
    let values = values.iter().flat_map(|value| value.to_le_bytes());
    header.bytes().into_iter().chain(values).collect()
}

/// Returns the file of a list of 64-bit integers.
pub fn integer_bytes(values: &[i64]) -> Vec<u8> {
    let header = NpyHeader {
        descriptor: "<i8".to_owned(),
        is_fortran: false,
        shape: vec![values.len() as u64],
    };
    let values = values.iter().flat_map(|value| value.to_le_bytes());
    header.bytes().into_iter().chain(values).collect()
}

/// Reads embeddings of f16, f32 or f64, in either memory order and either byte order.
///
/// Takes at most six times the size of the file in memory.
///
/// # Errors
/// If the file cannot be read, is no regular file, has more than 2 GiB or a header of more than 64 KiB, is
/// truncated, or holds another type or shape, no row or no column, or a value that is not finite.
pub fn read(path: &Path) -> Result<Array, Error> {
    let error = |found: String, expected: &str| Error::new(path.display(), found, expected);
    let bytes = InputFile::open(path, MAX_BYTES).and_then(InputFile::bytes);
    let bytes = bytes.map_err(|cause| {
        error(
            format!("no readable file ({cause})"),
            "a .npy file or a table of numbers",
        )
    })?;
    let (header, rest) = NpyHeader::read(&bytes).map_err(|error| error.at(path.display()))?;
    let &[n_rows, n_columns] = &header.shape[..] else {
        return Err(error(shape(&header.shape), "two dimensions, [n, d]"));
    };
    if n_rows == 0 || n_columns == 0 {
        return Err(error(
            shape(&header.shape),
            "at least one row and one column",
        ));
    }
    let Some(element) = Element::of(&header.descriptor) else {
        return Err(error(
            format!("type {}", Found::new(&header.descriptor)),
            "f16, f32 or f64",
        ));
    };
    // Lengths of a damaged header may have a product beyond 64 bits.
    let n_values = u128::from(n_rows) * u128::from(n_columns);
    let needed = n_values.checked_mul(element.n_bytes as u128);
    if needed.is_none_or(|needed| (rest.len() as u128) < needed) {
        return Err(error(
            format!("{} bytes of values", rest.len()),
            "as many as its header says: the file is truncated",
        ));
    }
    let (n_rows, n_columns) = (n_rows as usize, n_columns as usize);
    let mut values = Vec::with_capacity(n_rows * n_columns);
    for row in 0..n_rows {
        for column in 0..n_columns {
            let at = match header.is_fortran {
                false => row * n_columns + column,
                true => column * n_rows + row,
            };
            let value = element.decode(&rest[at * element.n_bytes..][..element.n_bytes]);
            if !value.is_finite() {
                return Err(error(
                    format!("{value} in row {row}, column {column} (counted from 0)"),
                    "finite numbers",
                ));
            }
            values.push(value);
        }
    }
    Ok(Array {
        n_rows,
        n_columns,
        values,
    })
}

/// Returns a shape in the words of an error, of which a long one names the first axes.
fn shape(lengths: &[u64]) -> String {
    let shown = &lengths[..lengths.len().min(MAX_SHOWN_AXES)];
    match lengths.len() - shown.len() {
        0 => format!("shape {shown:?}"),
        more => format!("shape {shown:?} and {more} more axes"),
    }
}

/// Type of the elements.
#[derive(Debug, Clone, Copy)]
struct Element {
    n_bytes: usize,
    is_big_endian: bool,
}

impl Element {
    fn of(descriptor: &str) -> Option<Self> {
        let is_big_endian = descriptor.starts_with('>');
        let n_bytes = match descriptor.strip_prefix(['<', '>']).unwrap_or(descriptor) {
            "f2" => 2,
            "f4" => 4,
            "f8" => 8,
            _ => return None,
        };
        Some(Self {
            n_bytes,
            is_big_endian,
        })
    }

    /// Returns the value of an element of `n_bytes` bytes.
    fn decode(self, bytes: &[u8]) -> f64 {
        let mut padded = [0; 8];
        let place = &mut padded[..bytes.len()];
        place.copy_from_slice(bytes);
        if self.is_big_endian {
            place.reverse();
        }
        let whole = u64::from_le_bytes(padded);
        match self.n_bytes {
            2 => f16::from_bits(whole as u16).to_f64(),
            4 => f64::from(f32::from_bits(whole as u32)),
            _ => f64::from_bits(whole),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_all_sizes_and_orders_are_read() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a.npy");
        // 1.5 and −0.1 as nearly as a number of 16 bits can be; 2^−24 is the smallest one.
        let half = [0x3e00_u16, 0xae66, 0x0001];
        let expected = [1.5, -0.099_975_585_937_5, 2_f64.powi(-24)];
        let little: Vec<u8> = half.iter().flat_map(|it| it.to_le_bytes()).collect();
        let big: Vec<u8> = half.iter().flat_map(|it| it.to_be_bytes()).collect();
        for (descriptor, values) in [("<f2", little), (">f2", big)] {
            let header = NpyHeader {
                descriptor: descriptor.to_owned(),
                is_fortran: false,
                shape: vec![1, 3],
            };
            std::fs::write(&path, [header.bytes(), values].concat()).unwrap();
            assert_eq!(read(&path).unwrap().values, expected, "{descriptor}");
        }
    }
}
