//! A column of vectors in a Parquet file.

use std::panic::catch_unwind;
use std::path::Path;
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::record::reader::RowIter;
use parquet::schema::types::Type;

use crate::disk::open_file;
use crate::error::DataError;
use crate::place::FileRef;
use crate::tabular::error::TablesError;
use crate::tabular::place::CellPlace;
use crate::tabular::vector_fault::VectorFault;

/// Names of columns of vectors that are preferred to others.
const NAMES: [&str; 2] = ["embedding", "embeddings"];
/// Largest number of values.
const MAX_VALUES: usize = 1 << 28;

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

/// Reads the column of vectors of a Parquet file: lists of floats, of fixed size or not, all of one length. It is the only column
/// of lists, or the one named `embedding` or `embeddings`; other columns are left out. `None` if the file has no column of
/// lists: it is then a table of columns, for [`read_table`](crate::read_table).
///
/// # Errors
/// - [`DataError::Unreadable`], [`DataError::TooLarge`] (more than 64 GiB) and [`DataError::TooMany`] (more than 2^28
///   values);
/// - [`DataError::Tables`] if the file is cut, damaged, or packed by another codec than Snappy or gzip; if there are several
///   columns of lists and none has such a name; or if a row is missing, empty, of another length than the first, or has an
///   element that is no floating-point number.
pub fn read_vectors(path: impl AsRef<Path>) -> Result<Option<VectorColumn>, DataError> {
    let file = FileRef::on_disk(path.as_ref());
    // The decoder checks most of a damaged file and panics on the rest.
    catch_unwind(|| decode(&file)).unwrap_or_else(|_| {
        let source = ParquetError::General("the decoder panicked".into());
        Err(broken(&file)(source))
    })
}

fn broken(file: &FileRef) -> impl Fn(ParquetError) -> DataError {
    |source| {
        let file = file.clone();
        TablesError::Parquet { file, source }.into()
    }
}

fn decode(file: &FileRef) -> Result<Option<VectorColumn>, DataError> {
    let broken = broken(file);
    let reader = SerializedFileReader::new(open_file(file)?).map_err(&broken)?;
    let schema = reader.metadata().file_metadata().schema();
    let Some(column) = column_of_lists(file, schema)? else {
        return Ok(None);
    };
    let name = column.name().to_owned();
    let projection = Type::group_type_builder(schema.name())
        .with_fields(vec![column])
        .build()
        .map_err(&broken)?;
    let rows = RowIter::from_file_into(Box::new(reader));
    let rows = rows.project(Some(projection)).map_err(&broken)?;
    let mut vectors = VectorColumn {
        n_rows: 0,
        d: 0,
        values: Vec::new(),
    };
    for row in rows {
        let row = row.map_err(&broken)?;
        let field = row.get_column_iter().next().map(|(_, field)| field);
        let at = || CellPlace::new(file, "row", vectors.n_rows + 1, &name);
        let wrong = |fault| DataError::from(TablesError::Vector { at: at(), fault });
        let Some(Field::ListInternal(list)) = field else {
            return Err(wrong(VectorFault::NoList));
        };
        let found = list.elements().len();
        let expected = match vectors.n_rows {
            0 => found.max(1),
            _ => vectors.d,
        };
        if found != expected {
            return Err(wrong(VectorFault::Length { found, expected }));
        }
        for (place, element) in list.elements().iter().enumerate() {
            let value = match element {
                Field::Float(value) => f64::from(*value),
                Field::Double(value) => *value,
                Field::Float16(value) => f64::from(value.to_f32()),
                _ => {
                    return Err(wrong(VectorFault::NotFloat { place: place + 1 }));
                }
            };
            vectors.values.push(value);
        }
        if vectors.values.len() > MAX_VALUES {
            return Err(DataError::TooMany {
                file: file.clone(),
                what: "values",
                found: vectors.values.len(),
                limit: MAX_VALUES,
            });
        }
        vectors.d = expected;
        vectors.n_rows += 1;
    }
    match vectors.n_rows {
        0 => Err(TablesError::HeaderOnly { file: file.clone() }.into()),
        _ => Ok(Some(vectors)),
    }
}

/// Returns the column of lists, if there is one.
fn column_of_lists(file: &FileRef, schema: &Type) -> Result<Option<Arc<Type>>, DataError> {
    let lists: Vec<&Arc<Type>> = schema
        .get_fields()
        .iter()
        .filter(|field| field.is_group())
        .collect();
    let named = lists.iter().find(|field| NAMES.contains(&field.name()));
    match (named, &lists[..]) {
        (Some(list), _) => Ok(Some(Arc::clone(list))),
        (None, []) => Ok(None),
        (None, [list]) => Ok(Some(Arc::clone(list))),
        (None, [_, second, ..]) => Err(TablesError::Vector {
            at: CellPlace::new(file, "row", 1, second.name()),
            fault: VectorFault::SecondColumn,
        }
        .into()),
    }
}
