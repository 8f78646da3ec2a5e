//! The way numbers are written, in every format.

use crate::summary::{Outcome, SpeedUp, Summary};

/// Text in place of a missing value.
pub const MISSING: &str = "–";
/// Text where the target was not reached.
pub(crate) const NEVER: &str = "never";
/// Text where θ₀ was at the target before the first step.
pub const AT_START: &str = "at start";
/// Smallest absolute value that is written with its power of ten: a double has no more digits.
const LONG: f64 = 1e15;

/// Writes a loss or a risk in nats.
pub fn nats(value: f64) -> String {
    rounded(value, 3)
}

/// Writes an accuracy.
pub fn accuracy(value: f64) -> String {
    rounded(value, 3)
}

/// Writes seconds to about three digits, without the unit.
pub(crate) fn seconds(value: f64) -> String {
    let digits = match value.abs() {
        0.0 => 0,
        x if x >= 100.0 => 0,
        x if x >= 10.0 => 1,
        x if x >= 0.1 => 2,
        x if x >= 0.001 => 3,
        _ => 5,
    };
    rounded(value, digits)
}

/// Writes a duration in seconds with its unit, from two minutes on in minutes.
pub fn duration(value: f64) -> String {
    match value < 120.0 {
        true => format!("{} s", seconds(value)),
        false => format!("{} min", seconds(value / 60.0)),
    }
}

/// Writes seconds as milliseconds to about three digits, without the unit.
pub(crate) fn milliseconds(seconds: f64) -> String {
    let digits = match 1e3 * seconds {
        x if x >= 100.0 => 0,
        x if x >= 10.0 => 1,
        x if x >= 1.0 => 2,
        _ => 3,
    };
    rounded(1e3 * seconds, digits)
}

/// Writes epochs or sample passes, from 10,000 on in thousands or millions.
pub fn count(value: f64) -> String {
    match value {
        x if !x.is_finite() => MISSING.to_owned(),
        x if x >= 1e6 * LONG => scientific(x),
        x if x >= 9_995_000.0 => format!("{:.1} M", x / 1e6),
        x if x >= 999_950.0 => format!("{:.2} M", x / 1e6),
        x if x >= 9_999.5 => format!("{:.1} k", x / 1e3),
        x if x.fract() == 0.0 => rounded(x, 0),
        x => rounded(x, 1),
    }
}

/// Writes a value next to an axis with no more digits than needed.
pub fn axis_value(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-4 {
        return format!("{value:.1e}").replace(".0e", "e");
    }
    let text = rounded(value, 5);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Writes sample passes next to an axis with no more digits than needed.
pub fn axis_count(value: f64) -> String {
    match value {
        x if x >= 1e6 => format!("{} M", axis_value(x / 1e6)),
        x if x >= 1e4 => format!("{} k", axis_value(x / 1e3)),
        x => axis_value(x),
    }
}

/// Writes a parameter change ‖Δθ‖/‖θ‖.
pub fn change(value: f64) -> String {
    match value {
        x if x >= 0.001 => rounded(x, 3),
        x => scientific(x),
    }
}

/// Writes a number that may be tiny with two digits and its power of ten.
pub(crate) fn scientific(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        x => signed(x, format!("{x:.1e}")),
    }
}

/// Writes a value with a fixed number of digits, a very large one with two and its power of ten.
pub fn rounded(value: f64, digits: usize) -> String {
    match value.abs() < LONG {
        true => signed(value, format!("{value:.digits$}")),
        false => scientific(value),
    }
}

/// Writes a share in per cent.
pub fn percent(value: f64) -> String {
    match (100.0 * value).is_finite() {
        true => format!("{} %", rounded(100.0 * value, 1)),
        false => MISSING.to_owned(),
    }
}

/// Writes a factor with one digit behind the point, below 0.95 with two.
pub fn factor(value: f64) -> String {
    let digits = if value < 0.95 { 2 } else { 1 };
    match value.is_finite() {
        true => format!("{}×", rounded(value, digits)),
        false => MISSING.to_owned(),
    }
}

/// Writes a value by a format, with a plus sign unless it is written as zero or below.
pub fn with_sign(value: f64, format: impl Fn(f64) -> String) -> String {
    let text = format(value);
    let is_zero = !text.chars().any(|c| matches!(c, '1'..='9'));
    if value > 0.0 && value.is_finite() && !is_zero {
        format!("+{text}")
    } else {
        text
    }
}

/// Writes the range of a summary, `min–max`; `None` where all seeds agree.
pub(crate) fn range(summary: &Summary, format: impl Fn(f64) -> String) -> Option<String> {
    let show = |value: Option<f64>| value.map_or(NEVER.to_owned(), &format);
    let (min, max) = (show(summary.min), show(summary.max));
    let is_negative = [summary.min, summary.max]
        .iter()
        .flatten()
        .any(|&x| x < 0.0);
    let dash = if is_negative { " to " } else { "–" };
    (min != max).then(|| format!("{min}{dash}{max}"))
}

/// Writes the speed-up of one seed, or a median.
pub fn speed_up(outcome: Outcome) -> String {
    match outcome {
        Outcome::Never => NEVER.to_owned(),
        Outcome::Ratio(ratio) => factor(ratio),
        Outcome::AtStart => AT_START.to_owned(),
    }
}

/// Writes the range of a speed-up, `slowest–quickest`; `None` where all seeds agree.
pub(crate) fn range_of_speed_up(of: &SpeedUp) -> Option<String> {
    let (least, greatest) = (speed_up(of.least), speed_up(of.greatest));
    (least != greatest).then(|| format!("{least}–{greatest}"))
}

/// Writes a number with its noun: `1 seed`, `3 seeds`.
pub fn plural(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// Writes some of all seeds: `all 3 seeds`, `2 of 3 seeds`, `the one seed`.
pub(crate) fn of_seeds(k: usize, n: usize) -> String {
    match (k, n) {
        (_, 1) => "the one seed".to_owned(),
        (2, 2) => "both seeds".to_owned(),
        (k, n) if k == n => format!("all {n} seeds"),
        (k, n) => format!("{k} of {n} seeds"),
    }
}

/// Writes a true minus sign, none before a zero, and a dash for what is not a number.
fn signed(value: f64, text: String) -> String {
    if !value.is_finite() {
        return MISSING.to_owned();
    }
    match text.strip_prefix('-') {
        None => text,
        Some(rest) if rest.chars().any(|c| c.is_ascii_digit() && c != '0') => format!("−{rest}"),
        Some(rest) => rest.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(nats(2.3456), "2.346");
        assert_eq!(nats(-0.0001), "0.000");
        assert_eq!(nats(-0.25), "−0.250");
        assert_eq!(nats(f64::NAN), "–");
        let times = [0.0, 0.00002, 0.012, 0.31, 3.15, 31.24, 312.4];
        assert_eq!(
            times.map(seconds),
            ["0", "0.00002", "0.012", "0.31", "3.15", "31.2", "312"]
        );
        assert_eq!(
            [3.15, 119.0, 600.0].map(duration),
            ["3.15 s", "119 s", "10.0 min"]
        );
        assert_eq!(
            [0.3, 0.0312, 0.004, 0.0001].map(milliseconds),
            ["300", "31.2", "4.00", "0.100"]
        );
        let counts = [
            0.0,
            12.5,
            9_999.0,
            10_000.0,
            999_950.0,
            9_994_999.0,
            9_995_000.0,
            12_345_678.0,
        ];
        assert_eq!(
            counts.map(count),
            [
                "0", "12.5", "9999", "10.0 k", "1.00 M", "9.99 M", "10.0 M", "12.3 M"
            ]
        );
        assert_eq!([0.0, 0.1234, 0.00001].map(change), ["0", "0.123", "1.0e-5"]);
        assert_eq!(
            [0.123, 1.04, 3.12, 12.34].map(factor),
            ["0.12×", "1.0×", "3.1×", "12.3×"]
        );
        assert_eq!(
            [0.05, 1.0, 200.0, 0.001, 2e-5].map(axis_value),
            ["0.05", "1", "200", "0.001", "2e-5"]
        );
        assert_eq!(
            [500.0, 2e4, 1.5e6].map(axis_count),
            ["500", "20 k", "1.5 M"]
        );
        assert_eq!(percent(0.0123), "1.2 %");
        assert_eq!(
            [0.01, -0.01, 0.0001].map(|x| with_sign(x, accuracy)),
            ["+0.010", "−0.010", "0.000"]
        );
        assert_eq!(
            (plural(1, "seed"), plural(3, "seed")),
            ("1 seed".into(), "3 seeds".into())
        );
        assert_eq!(of_seeds(1, 3), "1 of 3 seeds");
    }

    #[test]
    fn very_large_numbers_are_short() {
        let large = [1e15, -1.5e300, f64::MAX];
        assert_eq!(large.map(nats), ["1.0e15", "−1.5e300", "1.8e308"]);
        assert_eq!(count(u64::MAX as f64), "18446744073709.6 M");
        for text in [count(1e300), seconds(1e300), axis_count(1e300)] {
            assert!(text.len() < 12, "{text}");
        }
        for write in [percent, factor, milliseconds] {
            assert!(write(1e300).len() < 12 && write(f64::MAX).len() < 12);
        }
    }

    #[test]
    fn a_range_says_never_where_it_must() {
        let show = |values: &[Option<f64>]| {
            Summary::new(values.iter().copied()).and_then(|of| range(&of, seconds))
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(show(&[Some(0.31), Some(0.28), None]), some("0.28–never"));
        assert_eq!(show(&[None, None]), None);
        assert_eq!(show(&[Some(0.5)]), None);
        assert_eq!(
            show(&[Some(-2.0), Some(1.0), Some(2.0)]),
            some("−2.00 to 2.00")
        );
    }
}
