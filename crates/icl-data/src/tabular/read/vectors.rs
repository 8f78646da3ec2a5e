//! A column of vectors in a Parquet file.

use std::path::Path;

use burn::tensor::f16;
use parquet::basic::LogicalType;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::schema::types::{ColumnDescPtr, Type};

use super::parquet_file::{ParquetFile, broken, decoded};
use crate::error::DataError;
use crate::place::FileRef;
use crate::tabular::error::{check_n_values, header_only};

/// Names of columns of vectors that are preferred to others.
const NAMES: [&str; 2] = ["embedding", "embeddings"];

/// Bytes in memory for a value: as it is kept, and once more with its levels while its row is decoded.
const VALUE: u64 = 24;

/// Number of values that are decoded at once, in whole rows.
const BATCH: usize = 4096;

/// Vectors `[n_rows, d]` of one width, as a Parquet column of lists holds them.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorColumn {
    /// Number of rows.
    pub n_rows: usize,
    /// Width of a row.
    pub d: usize,
    /// Values, row by row.
    pub values: Vec<f64>,
}

/// Reads the column of vectors of a Parquet file: lists of floats, of fixed size or not, all of one length. It is the
/// only column of lists, or the one named `embedding` or `embeddings`; other columns are left out. `None` if the file
/// has no column of lists: it is then a table of columns, for [`read_table`](crate::read_table).
///
/// # Errors
/// [`DataError`]
/// - if the file is unreadable, or holds more than 64 GiB or more than 2^28 values;
/// - if the file is cut, damaged, packed by another codec than Snappy, gzip or Zstandard, or
///   would take more than 64 MiB and 20 times its size in memory; if there are several columns of lists and none has
///   such a name; or if a row is missing, empty, of another length than the first, or has an element that is no
///   floating-point number.
pub fn read_vectors(path: impl AsRef<Path>) -> Result<Option<VectorColumn>, DataError> {
    let file = FileRef::on_disk(path.as_ref());
    decoded(&file, || decode(&file))
}

fn decode(file: &FileRef) -> Result<Option<VectorColumn>, DataError> {
    let broken = broken(file);
    let parquet = ParquetFile::open(file)?;
    let schema = parquet.schema();
    let Some(column) = column_of_lists(file, schema.root_schema())? else {
        return Ok(None);
    };
    let name = schema.root_schema().get_fields()[column].name();
    let place = |row| file.cell("row", row, name);
    let mut leaves =
        (0..schema.num_columns()).filter(|leaf| schema.get_column_root_idx(*leaf) == column);
    let leaf = match (leaves.next(), leaves.next()) {
        (Some(leaf), None) if schema.column(leaf).max_rep_level() == 1 => leaf,
        (Some(leaf), None) if schema.column(leaf).max_rep_level() > 1 => {
            return Err(not_float(place(1), 1));
        }
        // A group of several columns, or of one that is no list.
        _ => return Err(no_list(place(1))),
    };
    let descr = schema.column(leaf);
    let mut rows = Rows {
        file,
        descr: &descr,
        place: &place,
        vectors: VectorColumn {
            n_rows: 0,
            d: 0,
            values: Vec::new(),
        },
    };
    for group in 0..parquet.n_groups() {
        let values = parquet.column(group, leaf, VALUE).map_err(&broken)?;
        match values {
            ColumnReader::FloatColumnReader(values) => {
                rows.read(values, &broken, |value| f64::from(*value))?;
            }
            ColumnReader::DoubleColumnReader(values) => {
                rows.read(values, &broken, |value| *value)?;
            }
            ColumnReader::FixedLenByteArrayColumnReader(values)
                if descr.logical_type_ref() == Some(&LogicalType::Float16)
                    && descr.type_length() == 2 =>
            {
                rows.read(values, &broken, |value| {
                    let bytes = value.data().first_chunk().copied().unwrap_or_default();
                    f64::from(f16::from_le_bytes(bytes).to_f32())
                })?;
            }
            _ => return Err(not_float(place(1), 1)),
        }
    }
    let vectors = rows.vectors;
    match vectors.n_rows {
        0 => Err(header_only(file)),
        _ => Ok(Some(vectors)),
    }
}

/// Rows of a column of lists that are read so far.
struct Rows<'a, P> {
    file: &'a FileRef,
    descr: &'a ColumnDescPtr,
    place: &'a P,
    vectors: VectorColumn,
}

impl<P: Fn(usize) -> String> Rows<'_, P> {
    /// Reads all rows of a group.
    fn read<T: DataType>(
        &mut self,
        mut reader: ColumnReaderImpl<T>,
        broken: &impl Fn(ParquetError) -> DataError,
        number: impl Fn(&T::T) -> f64,
    ) -> Result<(), DataError> {
        let (mut values, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            values.clear();
            definition.clear();
            repetition.clear();
            // The first row tells how many values one has.
            let n_rows = match self.vectors.d {
                0 => 1,
                d => (BATCH / d).max(1),
            };
            let read = reader.read_records(
                n_rows,
                Some(&mut definition),
                Some(&mut repetition),
                &mut values,
            );
            if read.map_err(broken)?.0 == 0 {
                return Ok(());
            }
            let starts: Vec<usize> = (0..repetition.len())
                .filter(|at| repetition[*at] == 0)
                .collect();
            let mut numbers = values.iter().map(&number);
            for (row, start) in starts.iter().enumerate() {
                let end = starts.get(row + 1).copied().unwrap_or(definition.len());
                let levels = definition.get(*start..end).unwrap_or_default();
                self.push(levels, &mut numbers)?;
            }
        }
    }

    /// Adds the row of these levels of definition.
    fn push(
        &mut self,
        levels: &[i16],
        numbers: &mut impl Iterator<Item = f64>,
    ) -> Result<(), DataError> {
        let vectors = &mut self.vectors;
        let at = || (self.place)(vectors.n_rows + 1);
        // From this level on an element is there; one level below, the list is empty, and further below it is missing.
        let is_there = self.descr.repeated_ancestor_def_level();
        let found = match levels.first() {
            Some(level) if *level + 1 < is_there => return Err(no_list(at())),
            Some(level) if *level < is_there => 0,
            _ => levels.len(),
        };
        let expected = match vectors.n_rows {
            0 => found.max(1),
            _ => vectors.d,
        };
        if found != expected {
            return Err(DataError::new(at(), format!("{found} values"), expected));
        }
        for (place, level) in levels.iter().enumerate() {
            let number = match *level == self.descr.max_def_level() {
                true => numbers.next(),
                false => None,
            };
            let Some(number) = number else {
                return Err(not_float(at(), place + 1));
            };
            vectors.values.push(number);
        }
        check_n_values(self.file, vectors.values.len())?;
        vectors.d = expected;
        vectors.n_rows += 1;
        Ok(())
    }
}

/// Returns the error of a value that is missing, or no list.
fn no_list(at: String) -> DataError {
    DataError::new(at, "no list", "a list of floats")
}

/// Returns the error of an element that is missing, or no floating-point number, at this place in the list, from 1.
fn not_float(at: String, place: usize) -> DataError {
    let found = format!("no floating-point number at place {place}");
    DataError::new(at, found, "only floating-point numbers")
}

/// Returns the index of the column of lists, if there is one.
fn column_of_lists(file: &FileRef, schema: &Type) -> Result<Option<usize>, DataError> {
    let fields = schema.get_fields();
    let lists: Vec<usize> = (0..fields.len())
        .filter(|column| fields[*column].is_group())
        .collect();
    let named = lists
        .iter()
        .find(|column| NAMES.contains(&fields[**column].name()));
    match (named, &lists[..]) {
        (Some(list), _) => Ok(Some(*list)),
        (None, []) => Ok(None),
        (None, [list]) => Ok(Some(*list)),
        (None, [_, second, ..]) => {
            let at = file.cell("row", 1, fields[*second].name());
            Err(DataError::new(
                at,
                "a second column of lists",
                "one, or one named embedding",
            ))
        }
    }
}
