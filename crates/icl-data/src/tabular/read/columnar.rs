//! Tables in the Parquet format.

use std::fmt::{self, Write};
use std::panic::catch_unwind;

use parquet::data_type::Decimal;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::record::reader::RowIter;
use time::OffsetDateTime;

use super::assemble::Assembly;
use super::cells::Origin;
use crate::disk::open_file;
use crate::error::DataError;
use crate::place::FileRef;
use crate::tabular::error::TablesError;
use crate::tabular::options::TableOptions;
use crate::tabular::place::CellPlace;
use crate::tabular::table::RawTable;

/// Reads a Parquet file, whose values become text as those of a text table are.
pub(super) fn read_parquet(
    file: &FileRef,
    name: String,
    options: &TableOptions,
) -> Result<RawTable, DataError> {
    // The decoder checks most of a damaged file and panics on the rest.
    catch_unwind(|| decode(file, name, options)).unwrap_or_else(|_| {
        Err(TablesError::Parquet {
            file: file.clone(),
            source: ParquetError::General("the decoder panicked".into()),
        }
        .into())
    })
}

fn decode(file: &FileRef, name: String, options: &TableOptions) -> Result<RawTable, DataError> {
    let broken = |source| {
        let file = file.clone();
        DataError::from(TablesError::Parquet { file, source })
    };
    let reader = SerializedFileReader::new(open_file(file)?).map_err(broken)?;
    let schema = reader.metadata().file_metadata().schema();
    let columns: Vec<String> = schema
        .get_fields()
        .iter()
        .map(|field| field.name().to_owned())
        .collect();
    if columns.is_empty() {
        return Err(TablesError::Empty { file: file.clone() }.into());
    }
    let origin = Origin {
        file,
        unit: "row",
        missing: options.missing,
    };
    let mut assembly = Assembly::begin(file, name, &columns, options)?;
    let mut texts = vec![String::new(); columns.len()];
    let mut at = 0;
    for row in RowIter::from_file_into(Box::new(reader)) {
        at += 1;
        let row = row.map_err(broken)?;
        for (index, (column, field)) in row.get_column_iter().enumerate() {
            let text = &mut texts[index];
            text.clear();
            if !write_text(text, field) && assembly.is_read(index) {
                return Err(TablesError::Nested {
                    at: CellPlace::new(file, "row", at, column),
                }
                .into());
            }
        }
        assembly.push_texts(&origin, at, texts.iter().map(String::as_str))?;
    }
    if at == 0 {
        return Err(TablesError::HeaderOnly { file: file.clone() }.into());
    }
    assembly.finish(&origin, options)
}

/// Appends a value as text that reads as the same value; returns `false` for groups, lists and bytes
/// that are no text.
fn write_text(text: &mut String, field: &Field) -> bool {
    let written = match field {
        Field::Null => Ok(()),
        Field::Bool(value) => write!(text, "{}", u8::from(*value)),
        Field::Byte(value) => write!(text, "{value}"),
        Field::Short(value) => write!(text, "{value}"),
        Field::Int(value) => write!(text, "{value}"),
        Field::Long(value) => write!(text, "{value}"),
        Field::UByte(value) => write!(text, "{value}"),
        Field::UShort(value) => write!(text, "{value}"),
        Field::UInt(value) => write!(text, "{value}"),
        Field::ULong(value) => write!(text, "{value}"),
        Field::Float16(value) => write!(text, "{}", value.to_f32()),
        Field::Float(value) => write!(text, "{value}"),
        Field::Double(value) => write!(text, "{value}"),
        Field::Str(value) => write!(text, "{value}"),
        Field::Bytes(bytes) => match std::str::from_utf8(bytes.data()) {
            Ok(value) => write!(text, "{value}"),
            Err(_) => return false,
        },
        Field::Decimal(value) => write!(text, "{}", number_of(value)),
        Field::TimeMillis(value) => write!(text, "{}", f64::from(*value) / 1e3),
        Field::TimeMicros(value) => write!(text, "{}", *value as f64 / 1e6),
        Field::Date(days) => write_time(text, i128::from(*days) * 86_400_000_000_000, false),
        Field::TimestampMillis(value) => write_time(text, i128::from(*value) * 1_000_000, true),
        Field::TimestampMicros(value) => write_time(text, i128::from(*value) * 1000, true),
        Field::Group(_) | Field::ListInternal(_) | Field::MapInternal(_) => return false,
    };
    // Writing to a string does not fail.
    written.is_ok()
}

/// Returns a decimal number: an integer, big-endian in two's complement, over a power of 10.
fn number_of(decimal: &Decimal) -> f64 {
    let is_negative = decimal.data().first().is_some_and(|byte| byte >> 7 == 1);
    let digit = |byte: &u8| f64::from(if is_negative { !byte } else { *byte });
    let bytes = decimal.data().iter();
    let whole = bytes.fold(0.0, |whole, byte| 256.0 * whole + digit(byte));
    let whole = if is_negative { -whole - 1.0 } else { whole };
    whole / 10.0_f64.powi(decimal.scale())
}

/// Appends a point in time, in nanoseconds since 1970, as text whose order is that of time; beyond the
/// years of the calendar as a number.
fn write_time(text: &mut String, nanoseconds: i128, with_clock: bool) -> fmt::Result {
    let Ok(time) = OffsetDateTime::from_unix_timestamp_nanos(nanoseconds) else {
        return write!(text, "{nanoseconds}");
    };
    let (year, month, day) = time.to_calendar_date();
    write!(text, "{year:04}-{:02}-{day:02}", u8::from(month))?;
    if with_clock {
        let (hour, minute, second, micro) = time.to_hms_micro();
        write!(text, "T{hour:02}:{minute:02}:{second:02}.{micro:06}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_the_order_of_their_texts() {
        let written = |field| {
            let mut text = String::new();
            assert!(write_text(&mut text, &field));
            text
        };
        assert_eq!(written(Field::Date(20_000)), "2024-10-04");
        assert_eq!(written(Field::Date(-1)), "1969-12-31");
        let stamp = 1_700_000_000_123_456;
        assert_eq!(
            written(Field::TimestampMicros(stamp)),
            "2023-11-14T22:13:20.123456"
        );
        let stamp = Field::TimestampMillis(stamp / 1000);
        assert_eq!(written(stamp), "2023-11-14T22:13:20.123000");
        assert_eq!(written(Field::TimeMillis(1500)), "1.5");
        assert_eq!(written(Field::Date(i32::MAX)), "185542587100800000000000");
    }

    #[test]
    fn decimals_are_integers_over_powers_of_10() {
        for (value, expected) in [(12_345, 123.45), (-12_345, -123.45), (-1, -0.01), (0, 0.0)] {
            let bytes = i32::to_be_bytes(value).to_vec();
            assert_eq!(
                number_of(&Decimal::from_bytes(bytes.into(), 9, 2)),
                expected
            );
            assert_eq!(number_of(&Decimal::from_i32(value, 9, 2)), expected);
        }
    }
}
