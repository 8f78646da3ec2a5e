//! Numbers as they are written, beyond the digits that double precision keeps.

use std::cmp::Ordering;

/// A number as it is written, and rounded to double precision.
pub(super) type Written<'a> = (f64, &'a str);

/// Returns a number by which [`compare`] compares.
pub(super) fn written(text: &str) -> Written<'_> {
    // −0 and 0 are one number.
    (text.parse().unwrap_or(f64::NAN) + 0.0, text)
}

/// Compares two numbers as they are written, to the last digit.
pub(super) fn compare((rounded_a, a): &Written<'_>, (rounded_b, b): &Written<'_>) -> Ordering {
    // Rounding keeps the order, so that digits decide only between numbers that round to the same.
    rounded_a.total_cmp(rounded_b).then_with(|| {
        let [a, b] = [a, b].map(|text| Digits::of(text));
        match (a.sign(), b.sign()) {
            (-1, -1) => b.size().cmp(&a.size()),
            (1, 1) => a.size().cmp(&b.size()),
            (a, b) => a.cmp(&b),
        }
    })
}

/// Returns a number minus an offset. Both may be whole numbers that differ by less than double precision resolves.
pub(super) fn difference(text: &str, offset: f64) -> f64 {
    match text.parse::<i128>() {
        // `as` is exact: whole numbers below this bound fit in an `i128`.
        Ok(whole) if offset.fract() == 0.0 && offset.abs() < 1e30 => {
            (whole.saturating_sub(offset as i128)) as f64
        }
        _ => text.parse().unwrap_or(f64::NAN) - offset,
    }
}

/// A decimal number by its digits.
struct Digits {
    is_negative: bool,
    /// Digits from the first to the last that is not 0.
    digits: String,
    /// Place of the point, counted from before the first of the digits.
    point: i64,
}

impl Digits {
    fn of(text: &str) -> Self {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse().unwrap_or(0_i64)),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_negative = whole.starts_with('-');
        let all = [whole.trim_start_matches(['+', '-']), fraction].concat();
        let digits = all.trim_start_matches('0');
        let n_zeros = all.len() - digits.len();
        let n_whole = all.len() - fraction.len();
        Self {
            is_negative,
            digits: digits.trim_end_matches('0').to_owned(),
            point: exponent.saturating_add(n_whole as i64 - n_zeros as i64),
        }
    }

    fn sign(&self) -> i8 {
        match (self.digits.is_empty(), self.is_negative) {
            (true, _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        }
    }

    fn size(&self) -> (i64, &str) {
        (self.point, &self.digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_their_order_to_the_last_digit() {
        let rising = [
            "-1e400",
            "-9007199254740993",
            "-9007199254740992.5",
            "-9007199254740992",
            "-0.5",
            "-1e-400",
            "0",
            "1e-401",
            "1e-400",
            "0.1",
            "0.10000000000000000001",
            "1",
            "1.7e9",
            "1700000151.000000001",
            "1700000151.000000002",
            "9007199254740992",
            "9007199254740993",
            "1e20",
            "100000000000000000001",
        ];
        for (at, a) in rising.iter().enumerate() {
            for (other, b) in rising.iter().enumerate() {
                assert_eq!(compare(&written(a), &written(b)), at.cmp(&other), "{a} {b}");
            }
        }
        for (a, b) in [
            ("1", "01"),
            ("1", "1.0"),
            ("+1", "10e-1"),
            ("0", "-0.0"),
            ("0e5", "-0"),
            ("1200", "1.2E3"),
            (".5", "0.50"),
            ("5.", "5"),
        ] {
            assert_eq!(
                compare(&written(a), &written(b)),
                Ordering::Equal,
                "{a} {b}"
            );
        }
    }

    #[test]
    fn differences_are_exact() {
        assert_eq!(difference("1000000003", 1e9), 3.0);
        assert_eq!(difference("1000000000.25", 1e9), 0.25);
        assert_eq!(difference("9007199254740993", 9_007_199_254_740_992.0), 1.0);
        assert_eq!(difference("-0.5", 0.25), -0.75);
        assert_eq!(difference("1e9", 1e9), 0.0);
    }
}
