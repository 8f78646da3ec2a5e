//! Moments as dates and times of ISO 8601 name them.

use time::{Date, Month};

/// Nanoseconds of a second.
const SECOND: i128 = 1_000_000_000;
/// Nanoseconds of a day.
const DAY: i128 = 86_400 * SECOND;
/// Julian day of 1 January 1970.
pub(crate) const EPOCH: i32 = 2_440_588;

/// Returns the moment that a date of ISO 8601 names, in nanoseconds since 1970: `2026-01-31`, or with a time of day
/// `2026-01-31T12:00:00.5+01:00`.
///
/// A date is the moment at which it begins, and a time without an offset from UTC is one in UTC. The `T` may be a
/// blank. `None` for other texts.
///
/// ```
/// use icl_data::instant;
///
/// // The hour that comes twice at the end of daylight saving.
/// let [first, second] = ["2025-10-26T02:30:00+02:00", "2025-10-26T02:15:00+01:00"].map(instant);
/// assert!(first < second);
/// assert_eq!(instant("2026-01-31"), instant("2026-01-31 01:00+01"));
/// assert_eq!(instant("31.01.2026"), None);
/// ```
pub fn instant(text: &str) -> Option<i128> {
    moment(text).map(|(nanoseconds, _)| nanoseconds)
}

/// Returns the moment that a text names, and whether the text states the offset from UTC.
pub(crate) fn moment(text: &str) -> Option<(i128, bool)> {
    let (date, clock) = match text.split_once(['T', 't', ' ']) {
        None => (text, None),
        Some((date, clock)) => (date, Some(clock)),
    };
    let midnight = i128::from(day(date)?) * DAY;
    let Some(clock) = clock else {
        return Some((midnight, false));
    };
    let (clock, offset) = split_offset(clock.trim())?;
    let time = midnight + time_of_day(clock.trim_end())?;
    Some((time - offset.unwrap_or(0), offset.is_some()))
}

/// Returns the day of a date, counted from 1970. The year comes first and has four digits.
fn day(date: &str) -> Option<i32> {
    let mut parts = date.split('-');
    let year = parts.next().filter(|year| year.len() == 4)?;
    let (month, day) = (parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let month = Month::try_from(digits(month, 2)? as u8).ok()?;
    let date = Date::from_calendar_date(digits(year, 4)? as i32, month, digits(day, 2)? as u8);
    Some(date.ok()?.to_julian_day() - EPOCH)
}

/// Splits the offset from UTC, in nanoseconds, off a time of day.
fn split_offset(clock: &str) -> Option<(&str, Option<i128>)> {
    if let Some(clock) = ["Z", "z", "UTC"]
        .iter()
        .find_map(|utc| clock.strip_suffix(utc))
    {
        return Some((clock, Some(0)));
    }
    let Some(at) = clock.rfind(['+', '-']) else {
        return Some((clock, None));
    };
    let (clock, offset) = clock.split_at(at);
    let (sign, offset) = offset.split_at(1);
    let (hours, minutes) = match offset.split_once(':') {
        Some(parts) => parts,
        None => offset.split_at_checked(2)?,
    };
    let minutes = match minutes {
        "" => 0,
        minutes => digits(minutes, 2).filter(|it| *it < 60)?,
    };
    let hours = digits(hours, 2).filter(|it| *it < 24)?;
    let offset = i128::from(hours * 3600 + minutes * 60) * SECOND;
    Some((clock, Some(if sign == "-" { -offset } else { offset })))
}

/// Returns the nanoseconds from midnight to a time of day, of which seconds and their fraction may be missing.
fn time_of_day(clock: &str) -> Option<i128> {
    let mut parts = clock.split(':');
    let hour = digits(parts.next()?, 2).filter(|it| *it < 24)?;
    let minute = digits(parts.next()?, 2).filter(|it| *it < 60)?;
    let (second, fraction) = match parts.next() {
        None => ("0", "0"),
        Some(second) => second.split_once(['.', ',']).unwrap_or((second, "0")),
    };
    // A leap second is the 61st of its minute.
    let second = digits(second, 2).filter(|it| *it <= 60)?;
    if parts.next().is_some() || !fraction.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    let nanoseconds = format!("{fraction:0<9.9}").parse::<u32>().ok()?;
    Some(i128::from(hour * 3600 + minute * 60 + second) * SECOND + i128::from(nanoseconds))
}

/// Returns a number of 1 to `n` digits.
fn digits(text: &str, n: usize) -> Option<u32> {
    let is_number = text.bytes().all(|it| it.is_ascii_digit()) && text.len() <= n;
    is_number.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_counted_from_1970() {
        assert_eq!(moment("1970-01-01"), Some((0, false)));
        assert_eq!(moment("1969-12-31T23:59:59Z"), Some((-SECOND, true)));
        assert_eq!(moment("2024-02-29"), Some((19_782 * DAY, false)));
        let fraction = 19_782 * DAY + 3_723 * SECOND + 4_000_000;
        for (text, states_offset) in [
            ("2024-02-29T01:02:03.004", false),
            ("2024-02-29 01:02:03,004", false),
            ("2024-2-29 1:02:03.0040000009", false),
            ("2024-02-29T01:02:03.004Z", true),
            ("2024-02-29 01:02:03.004 UTC", true),
            ("2024-02-29T02:02:03.004+01:00", true),
            ("2024-02-28T20:32:03.004-0430", true),
            ("2024-02-29t03:02:03.004+02", true),
        ] {
            assert_eq!(moment(text), Some((fraction, states_offset)), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_moments() {
        for text in [
            "",
            "2024",
            "2024-02",
            "24-02-29",
            "2023-02-29",
            "2024-13-01",
            "29.02.2024",
            "2024-02-29T",
            "2024-02-29T24:00",
            "2024-02-29T1",
            "2024-02-29T01:60",
            "2024-02-29T01:02:61",
            "2024-02-29T01:02:03.x",
            "2024-02-29T01:02+1",
            "2024-02-29T01:02+24",
            "2024-02-29T01:02:03:04",
            "+024-02-29",
            "2024-02-29-01",
            "2024-02-29 noon",
            "2024-02-29T01:02+é0",
        ] {
            assert_eq!(moment(text), None, "{text}");
        }
    }
}
