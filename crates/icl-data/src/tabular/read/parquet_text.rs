//! Values of Parquet files as the texts that a text table has for them.

use std::fmt::{self, Write};

use parquet::data_type::{Decimal, Int96};
use parquet::record::Field;
use time::OffsetDateTime;

use crate::instant::EPOCH;

/// Nanoseconds of a day.
const DAY: i128 = 86_400_000_000_000;

/// Appends a value as text that reads as the same value; returns `false` for groups, lists and bytes
/// that are no text.
pub(super) fn write_text(text: &mut String, field: &Field) -> bool {
    let written = match field {
        Field::Null => Ok(()),
        Field::Bool(value) => write!(text, "{}", u8::from(*value)),
        Field::Byte(_) | Field::Short(_) | Field::Int(_) | Field::Long(_) => {
            write!(text, "{field}")
        }
        Field::UByte(_) | Field::UShort(_) | Field::UInt(_) | Field::ULong(_) => {
            write!(text, "{field}")
        }
        Field::Float16(value) => write!(text, "{}", value.to_f32()),
        Field::Float(value) => write!(text, "{value}"),
        Field::Double(value) => write!(text, "{value}"),
        Field::Str(value) => write!(text, "{value}"),
        Field::Bytes(bytes) => match std::str::from_utf8(bytes.data()) {
            Ok(value) => write!(text, "{value}"),
            Err(_) => return false,
        },
        Field::Decimal(value) if !is_decimal(value) => return false,
        Field::Decimal(_) => {
            // A whole number ends in its point.
            write!(text, "{field}").map(|()| text.truncate(text.trim_end_matches('.').len()))
        }
        Field::TimeMillis(value) => return write_seconds(text, i64::from(*value), 1e3),
        Field::TimeMicros(value) => return write_seconds(text, *value, 1e6),
        Field::Date(days) => write_time(text, i128::from(*days) * DAY, false),
        Field::TimestampMillis(value) => {
            return write_timestamp(text, i128::from(*value) * 1_000_000);
        }
        Field::TimestampMicros(value) => return write_timestamp(text, i128::from(*value) * 1000),
        Field::Group(_) | Field::ListInternal(_) | Field::MapInternal(_) => return false,
    };
    // Writing to a string does not fail.
    written.is_ok()
}

/// Appends a time of day, as seconds since midnight, and returns `true`.
pub(super) fn write_seconds(text: &mut String, value: i64, unit: f64) -> bool {
    write!(text, "{}", value as f64 / unit).is_ok()
}

/// Appends a timestamp in nanoseconds since 1970 and returns `true`.
pub(super) fn write_timestamp(text: &mut String, nanoseconds: i128) -> bool {
    write_time(text, nanoseconds, true).is_ok()
}

/// Appends a timestamp of the type that Impala and Spark write, and returns `true`.
pub(super) fn write_int96(text: &mut String, value: &Int96) -> bool {
    let [low, high, day] = [0, 1, 2].map(|word| i128::from(value.data()[word]));
    write_timestamp(text, (day - i128::from(EPOCH)) * DAY + (high << 32) + low)
}

/// Returns `true` if a decimal number has at most the 76 digits of the largest type, and no more of them behind its
/// point than it has at all.
fn is_decimal(decimal: &Decimal) -> bool {
    let (precision, scale) = (decimal.precision(), decimal.scale());
    decimal.data().len() <= 32 && (0..=76).contains(&scale) && scale <= precision
}

/// Appends a point in time, in nanoseconds since 1970, as text whose order is that of time; beyond the
/// years of the calendar as a number. All units of the file give the same text.
fn write_time(text: &mut String, nanoseconds: i128, with_clock: bool) -> fmt::Result {
    let Ok(time) = OffsetDateTime::from_unix_timestamp_nanos(nanoseconds) else {
        return write!(text, "{nanoseconds}");
    };
    let (year, month, day) = time.to_calendar_date();
    write!(text, "{year:04}-{:02}-{day:02}", u8::from(month))?;
    if with_clock {
        let (hour, minute, second, nano) = time.to_hms_nano();
        write!(text, "T{hour:02}:{minute:02}:{second:02}.")?;
        match nano % 1000 {
            0 => write!(text, "{:06}", nano / 1000)?,
            _ => write!(text, "{nano:09}")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(field: Field) -> String {
        let mut text = String::new();
        assert!(write_text(&mut text, &field));
        text
    }

    #[test]
    fn times_are_in_the_order_of_their_texts() {
        assert_eq!(written(Field::Date(20_000)), "2024-10-04");
        assert_eq!(written(Field::Date(-1)), "1969-12-31");
        let stamp = 1_700_000_000_123_456;
        let micros = written(Field::TimestampMicros(stamp));
        assert_eq!(micros, "2023-11-14T22:13:20.123456");
        let mut nanos = [String::new(), String::new()];
        assert!(write_timestamp(&mut nanos[0], i128::from(stamp) * 1000));
        assert!(write_timestamp(&mut nanos[1], i128::from(stamp) * 1000 + 7));
        assert_eq!(nanos[0], micros);
        assert_eq!(nanos[1], "2023-11-14T22:13:20.123456007");
        let stamp = Field::TimestampMillis(stamp / 1000);
        assert_eq!(written(stamp), "2023-11-14T22:13:20.123000");
        let mut days = String::new();
        let mut int96 = Int96::new();
        let clock = 80_000_123_456_007_u64;
        int96.set_data(clock as u32, (clock >> 32) as u32, 2_440_588 + 19_675);
        assert!(write_int96(&mut days, &int96));
        assert_eq!(days, nanos[1]);
        assert_eq!(written(Field::TimeMillis(1500)), "1.5");
        let mut seconds = String::new();
        assert!(write_seconds(&mut seconds, 86_399_999_999_999, 1e9));
        assert_eq!(seconds, "86399.999999999");
        assert_eq!(written(Field::Date(i32::MAX)), "185542587100800000000000");
    }

    #[test]
    fn decimals_keep_all_digits() {
        for (value, expected) in [
            (12_345, "123.45"),
            (-12_345, "-123.45"),
            (-1, "-0.01"),
            (0, "0.00"),
            (i32::MIN, "-21474836.48"),
        ] {
            let bytes = i32::to_be_bytes(value).to_vec();
            let of_bytes = Field::Decimal(Decimal::from_bytes(bytes.into(), 9, 2));
            assert_eq!(written(of_bytes), expected);
            let of_number = Field::Decimal(Decimal::from_i32(value, 9, 2));
            assert_eq!(written(of_number), expected);
        }
        let long = i128::to_be_bytes(-12_345_678_901_234_567_890_123_456_789_i128).to_vec();
        let long = Field::Decimal(Decimal::from_bytes(long.into(), 38, 9));
        assert_eq!(written(long), "-12345678901234567890.123456789");
        let endless = Decimal::from_bytes(vec![1; 1 << 20].into(), 9, 2);
        assert!(!write_text(&mut String::new(), &Field::Decimal(endless)));
        let whole = Field::Decimal(Decimal::from_i64(1200, 9, 0));
        assert_eq!(written(whole), "1200");
    }
}
