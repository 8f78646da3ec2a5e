//! Tables in the Parquet format.

use parquet::basic::{LogicalType, TimeUnit, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::record::Field;
use parquet::schema::types::ColumnDescPtr;

use super::assemble::{Assembly, Names};
use super::cells::Origin;
use super::parquet_file::{ParquetFile, TEXTS, broken, decoded};
use super::parquet_text::{write_int96, write_seconds, write_text, write_timestamp};
use crate::error::DataError;
use crate::place::FileRef;
use crate::tabular::error::{empty_table, header_only};
use crate::tabular::options::TableOptions;
use crate::tabular::table::RawTable;

/// Number of values that are decoded at once.
const BATCH: usize = 1024;

/// Bytes in memory of a short number, or of the end of a text. A long number takes as many again.
const FIELD: u64 = 4;
/// Bytes of the longest text of a short number.
const SHORT: u64 = 8;
/// Further bytes in memory of the class of a row.
const CLASS: u64 = 24;

/// Reads a Parquet file, whose values become text as those of a text table are.
pub(super) fn read_parquet(
    file: &FileRef,
    name: String,
    options: &TableOptions,
) -> Result<RawTable, DataError> {
    decoded(file, || decode(file, name, options))
}

fn decode(file: &FileRef, name: String, options: &TableOptions) -> Result<RawTable, DataError> {
    let broken = broken(file);
    let parquet = ParquetFile::open(file)?;
    let schema = parquet.schema();
    let fields = schema.root_schema().get_fields().iter();
    let names = Names::of_file(fields.map(|field| field.name().to_owned()).collect());
    if names.len() == 0 {
        return Err(empty_table(file));
    }
    let origin = Origin {
        file,
        unit: "row",
        missing: options.missing,
        first_is_guess: false,
    };
    let mut assembly = Assembly::begin(file, name, &names, options)?;
    // Values of each column so far. Excluded ones are not decoded.
    let mut n_values = vec![None; names.len()];
    // Columns in which all numbers are kept as long ones, since one of them may be.
    let mut is_long = vec![false; names.len()];
    for group in 0..parquet.n_groups() {
        for leaf in 0..schema.num_columns() {
            let column = schema.get_column_root_idx(leaf);
            if !assembly.is_read(column) {
                continue;
            }
            let nested = |at| {
                DataError::new(
                    file.cell("row", at, names.get(column)),
                    "a nested value or bytes that are no text",
                    "a number or a text (a column can be excluded)",
                )
            };
            let descr = schema.column(leaf);
            if schema.get_column_root(leaf).is_group() || descr.max_rep_level() > 0 {
                return Err(nested(1));
            }
            let n_kept = match assembly.is_target(column) {
                true => FIELD + CLASS,
                false => FIELD,
            };
            let values = parquet.column(group, leaf, n_kept).map_err(&broken)?;
            let mut at = n_values[column].unwrap_or(0);
            let mut push = |text: Option<&str>| {
                at += 1;
                let text = text.ok_or_else(|| nested(at))?;
                let n_bytes = text.len() as u64;
                if n_bytes > SHORT && !is_long[column] {
                    is_long[column] = true;
                    parquet.memory.keep(FIELD * at as u64).map_err(&broken)?;
                }
                let n_further = n_bytes.max(FIELD * u64::from(is_long[column]));
                parquet.memory.keep(n_further).map_err(&broken)?;
                assembly.push(&origin, column, at, text)
            };
            read_values(values, &descr, &broken, &mut push)?;
            n_values[column] = Some(at);
        }
    }
    let is_read = (0..names.len()).map(|column| assembly.is_read(column));
    let mut counts = n_values
        .into_iter()
        .zip(is_read)
        .filter_map(|(n, is_read)| is_read.then_some(n.unwrap_or(0)));
    // Without a column that is read, any number but 0 leads to the error of a table without features.
    let n_rows = counts.next().unwrap_or(1);
    if counts.any(|n| n != n_rows) {
        let source = ParquetError::General("columns of different lengths".into());
        return Err(broken(source));
    }
    if n_rows == 0 {
        return Err(header_only(file));
    }
    assembly.finish(&origin, n_rows, None, options)
}

/// Passes the values of a column to `push` as texts, each empty if it is missing and `None` if it has no text.
fn read_values(
    values: ColumnReader,
    descr: &ColumnDescPtr,
    broken: &impl Fn(ParquetError) -> DataError,
    push: &mut impl FnMut(Option<&str>) -> Result<(), DataError>,
) -> Result<(), DataError> {
    use Field as F;
    // Fields of the crate have no nanoseconds.
    let is_nanoseconds = |unit: &TimeUnit| *unit == TimeUnit::NANOS;
    match (values, descr.logical_type_ref()) {
        (ColumnReader::BoolColumnReader(values), _) => {
            typed(values, descr, broken, push, |text, value| {
                Ok(write_text(text, &F::convert_bool(descr, *value)))
            })
        }
        (ColumnReader::Int32ColumnReader(values), _) => {
            typed(values, descr, broken, push, |text, value| {
                Ok(write_text(text, &F::convert_int32(descr, *value)))
            })
        }
        (ColumnReader::Int64ColumnReader(values), Some(LogicalType::Timestamp(of)))
            if is_nanoseconds(&of.unit) =>
        {
            typed(values, descr, broken, push, |text, value| {
                Ok(write_timestamp(text, i128::from(*value)))
            })
        }
        (ColumnReader::Int64ColumnReader(values), Some(LogicalType::Time(of)))
            if is_nanoseconds(&of.unit) =>
        {
            typed(values, descr, broken, push, |text, value| {
                Ok(write_seconds(text, *value, 1e9))
            })
        }
        (ColumnReader::Int64ColumnReader(values), _) => {
            typed(values, descr, broken, push, |text, value| {
                Ok(write_text(text, &F::convert_int64(descr, *value)))
            })
        }
        (ColumnReader::Int96ColumnReader(values), _) => {
            typed(values, descr, broken, push, |text, value| {
                Ok(write_int96(text, value))
            })
        }
        (ColumnReader::FloatColumnReader(values), _) => {
            typed(values, descr, broken, push, |text, value| {
                Ok(write_text(text, &F::convert_float(descr, *value)))
            })
        }
        (ColumnReader::DoubleColumnReader(values), _) => {
            typed(values, descr, broken, push, |text, value| {
                Ok(write_text(text, &F::convert_double(descr, *value)))
            })
        }
        (ColumnReader::ByteArrayColumnReader(values), _) => {
            typed(values, descr, broken, push, |text, value| {
                Ok(write_text(
                    text,
                    &F::convert_byte_array(descr, value.clone())?,
                ))
            })
        }
        (ColumnReader::FixedLenByteArrayColumnReader(values), _) => {
            typed(values, descr, broken, push, |text, value| {
                Ok(write_text(
                    text,
                    &F::convert_byte_array(descr, value.clone().into())?,
                ))
            })
        }
    }
}

/// Passes the values of a column of one type to `push`; `write` appends a value to a text, and returns `false` if it
/// has none.
fn typed<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    descr: &ColumnDescPtr,
    broken: &impl Fn(ParquetError) -> DataError,
    push: &mut impl FnMut(Option<&str>) -> Result<(), DataError>,
    write: impl Fn(&mut String, &T::T) -> Result<bool, ParquetError>,
) -> Result<(), DataError> {
    let is_defined = descr.max_def_level();
    let batch = match descr.physical_type() {
        Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => TEXTS,
        _ => BATCH,
    };
    let (mut values, mut levels, mut text) = (Vec::new(), Vec::new(), String::new());
    loop {
        values.clear();
        levels.clear();
        let read = reader.read_records(batch, Some(&mut levels), None, &mut values);
        let (n, ..) = read.map_err(broken)?;
        if n == 0 {
            return Ok(());
        }
        let mut values = values.iter();
        for at in 0..n {
            // Without levels, every value is there.
            let is_missing = levels.get(at).is_some_and(|level| *level != is_defined);
            text.clear();
            let has_text = match values.as_slice() {
                _ if is_missing => true,
                [] => return Err(broken(ParquetError::General("too few values".into()))),
                [value, ..] => {
                    values.next();
                    write(&mut text, value).map_err(broken)?
                }
            };
            push(has_text.then_some(&*text))?;
        }
    }
}
