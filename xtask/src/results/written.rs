//! Numbers as pages write them, and their tolerances.

use std::str::FromStr;

use anyhow::Context;

/// Number as a page writes it: digits, perhaps a minus sign (`-` or `−`) and commas between thousands, and
/// perhaps a unit behind a space: `%`, `k` or `M`; or `×` without one.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// Text on the page.
    pub text: String,
    /// Value, with the unit.
    pub value: f64,
    /// Half of the last digit's place, which rounding may have changed.
    rounding: f64,
}

impl FromStr for Written {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let units = [
            (" %", 1e-2),
            (" k", 1e3),
            (" M", 1e6),
            ("×", 1.0),
            ("", 1.0),
        ];
        let (digits, unit) = units
            .into_iter()
            .find_map(|(suffix, unit)| Some((text.strip_suffix(suffix)?, unit)))
            .unwrap_or((text, 1.0));
        let digits = digits.replace('−', "-").replace(',', "");
        let found =
            || format!("found the number {text:?}, expected one such as 0.871, 12.3 k or 4 %");
        let value: f64 = digits.parse().with_context(found)?;
        let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((&digits, "0"));
        let exponent: i32 = exponent.parse().with_context(found)?;
        let n_decimals = mantissa.split_once('.').map_or(0, |(_, after)| after.len());
        let place = 10_f64.powi(exponent - i32::try_from(n_decimals).unwrap_or(i32::MAX));
        Ok(Self {
            text: text.to_owned(),
            value: value * unit,
            rounding: place * unit / 2.0,
        })
    }
}

/// Distance from a written number that counts as equal, beside its rounding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// Distance in the number's own unit (`0.002`).
    Absolute(f64),
    /// Share of the number (`1 %`).
    Relative(f64),
}

impl FromStr for Tolerance {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let (digits, is_share) = match text.strip_suffix('%') {
            Some(digits) => (digits.trim_end(), true),
            None => (text, false),
        };
        let value: f64 = digits.parse().ok().filter(|value| *value >= 0.0).with_context(|| {
            format!("found the tolerance {text:?}, expected a number of at least 0 such as 0.002 or 1 %")
        })?;
        Ok(match is_share {
            true => Self::Relative(value / 100.0),
            false => Self::Absolute(value),
        })
    }
}

impl Written {
    /// Returns whether a measured value is the written one up to rounding and a tolerance.
    pub fn is_met(&self, found: f64, tolerance: Tolerance) -> bool {
        let tolerance = match tolerance {
            Tolerance::Absolute(distance) => distance,
            Tolerance::Relative(share) => share * self.value.abs(),
        };
        // The last term is for the rounding of the decimal numbers themselves.
        (found - self.value).abs() <= tolerance + self.rounding * (1.0 + 1e-9)
    }

    /// Returns the number of times that a text holds the number: not as a part of another one, and not
    /// behind a minus sign that it has not.
    pub fn n_in(&self, text: &str) -> usize {
        text.match_indices(&self.text)
            .filter(|(at, _)| {
                let before = text[..*at].chars().next_back();
                let mut after = text[at + self.text.len()..].chars();
                let joins = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '−');
                let goes_on = match after.next() {
                    Some('.' | ',') => after.next().is_some_and(|c| c.is_ascii_digit()),
                    Some(c) => c.is_ascii_alphanumeric(),
                    None => false,
                };
                !before.is_some_and(joins) && !goes_on
            })
            .count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Written {
        text.parse().unwrap()
    }

    #[test]
    fn numbers_are_read_as_they_are_written() {
        for (text, value, rounding) in [
            ("0.871", 0.871, 0.0005),
            ("−0.5", -0.5, 0.05),
            ("-12", -12.0, 0.5),
            ("12.3 k", 12_300.0, 50.0),
            ("2 M", 2e6, 5e5),
            ("4.2 %", 0.042, 0.0005),
            ("1,234", 1234.0, 0.5),
            ("3.4×", 3.4, 0.05),
            ("3.1e-6", 3.1e-6, 5e-8),
        ] {
            let found = written(text);
            assert!((found.value / value - 1.0).abs() < 1e-12, "{text}");
            assert!((found.rounding / rounding - 1.0).abs() < 1e-9, "{text}");
        }
        for text in ["", "never", "1 s", "1.2.3"] {
            assert!(text.parse::<Written>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_tolerance_is_added_to_the_rounding() {
        let (exact, wide, share): (Tolerance, Tolerance, Tolerance) = (
            "0".parse().unwrap(),
            "0.01".parse().unwrap(),
            "10 %".parse().unwrap(),
        );
        let number = written("0.87");
        assert!(number.is_met(0.8749, exact) && !number.is_met(0.8751, exact));
        assert!(number.is_met(0.8849, wide) && !number.is_met(0.8851, wide));
        assert!(number.is_met(0.96, share) && !number.is_met(0.97, share));
        assert!(!number.is_met(f64::NAN, wide));
        for text in ["", "-1", "NaN", "1 k"] {
            assert!(text.parse::<Tolerance>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_number_is_found_as_a_whole() {
        let n = |number: &str, text: &str| written(number).n_in(text);
        assert_eq!(n("0.87", "| 0.87 | 0.871 | 10.87 | −0.87 | -0.87 |"), 1);
        assert_eq!(n("0.87", "0.87, 0.87. 0.87–0.88 (0.87)"), 4);
        assert_eq!(n("12", "12.3, 12,345, 12e3, 3.12, x12"), 0);
        assert_eq!(n("5.3 k", "5.3 k passes and 15.3 k"), 1);
        assert_eq!(n("−0.87", "| −0.87 |"), 1);
    }
}
