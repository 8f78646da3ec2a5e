//! How numbers are written: the same way in the page, in its charts and on the terminal.

use crate::Summary;

/// What stands where there is no value.
pub(crate) const MISSING: &str = "–";
/// What stands where the target was not reached.
pub(crate) const NEVER: &str = "never";

/// A loss or a risk in nats.
pub(crate) fn nats(value: f64) -> String {
    signed(value, format!("{value:.3}"))
}

/// Seconds, to about three digits; the unit is left to the caller.
pub(crate) fn seconds(value: f64) -> String {
    let digits = match value.abs() {
        0.0 => 0,
        x if x >= 100.0 => 0,
        x if x >= 10.0 => 1,
        x if x >= 0.1 => 2,
        x if x >= 0.001 => 3,
        _ => 5,
    };
    signed(value, format!("{value:.digits$}"))
}

/// Epochs or sample passes; from 10,000 on in thousands or millions.
pub(crate) fn count(value: f64) -> String {
    match value {
        x if x >= 9_999_500.0 => format!("{:.1} M", x / 1e6),
        x if x >= 999_950.0 => format!("{:.2} M", x / 1e6),
        x if x >= 9_999.5 => format!("{:.1} k", x / 1e3),
        x if x.fract() == 0.0 => format!("{x:.0}"),
        x => format!("{x:.1}"),
    }
}

/// Seconds beside an axis, with no more digits than needed.
pub(crate) fn axis_seconds(value: f64) -> String {
    let text = format!("{value:.5}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Passes beside an axis, with no more digits than needed.
pub(crate) fn axis_count(value: f64) -> String {
    match value {
        x if x >= 1e6 => format!("{} M", axis_seconds(x / 1e6)),
        x if x >= 1e4 => format!("{} k", axis_seconds(x / 1e3)),
        x => axis_seconds(x),
    }
}

/// An accuracy.
pub(crate) fn accuracy(value: f64) -> String {
    signed(value, format!("{value:.3}"))
}

/// ‖Δθ‖/‖θ‖.
pub(crate) fn change(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        x if x >= 0.001 => format!("{x:.3}"),
        x => signed(x, format!("{x:.1e}")),
    }
}

/// A value with a fixed number of digits, as axes need it.
pub(crate) fn rounded(value: f64, digits: usize) -> String {
    signed(value, format!("{value:.digits$}"))
}

/// A share, in per cent.
pub(crate) fn percent(value: f64) -> String {
    signed(value, format!("{:.1} %", value * 100.0))
}

/// A factor, to about two digits.
pub(crate) fn factor(value: f64) -> String {
    if value >= 9.95 {
        format!("{value:.0}×")
    } else {
        format!("{value:.1}×")
    }
}

/// A number with its word: `1 seed`, `3 seeds`.
pub(crate) fn plural(n: usize, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

/// With a true minus sign, none before a zero, and a dash for what is not a number.
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

/// A summary in words: the median, and the spread where seeds differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spread {
    /// The median with its unit.
    pub(crate) median: String,
    /// `[min–max]`; `None` where all seeds agree.
    pub(crate) spread: Option<String>,
}

impl Spread {
    /// A summary by a format, with a unit behind the median. Without a summary: a dash.
    pub(crate) fn new(summary: Option<&Summary>, format: fn(f64) -> String, unit: &str) -> Self {
        let Some(summary) = summary else {
            return Self {
                median: MISSING.to_owned(),
                spread: None,
            };
        };
        let show = |value: Option<f64>| value.map_or(NEVER.to_owned(), format);
        let (min, max) = (show(summary.min), show(summary.max));
        let dash = if [summary.min, summary.max]
            .iter()
            .flatten()
            .any(|&x| x < 0.0)
        {
            " to "
        } else {
            "–"
        };
        Self {
            median: match summary.median {
                Some(median) => format!("{}{unit}", format(median)),
                None => NEVER.to_owned(),
            },
            spread: (min != max).then(|| format!("[{min}{dash}{max}]")),
        }
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
        let counts = [0.0, 12.5, 9_999.0, 10_000.0, 999_950.0, 12_345_678.0];
        assert_eq!(
            counts.map(count),
            ["0", "12.5", "9999", "10.0 k", "1.00 M", "12.3 M"]
        );
        assert_eq!([0.0, 0.1234, 0.00001].map(change), ["0", "0.123", "1.0e-5"]);
        assert_eq!([1.04, 3.12, 12.3].map(factor), ["1.0×", "3.1×", "12×"]);
        assert_eq!([0.05, 1.0, 200.0].map(axis_seconds), ["0.05", "1", "200"]);
        assert_eq!(
            [500.0, 2e4, 1.5e6].map(axis_count),
            ["500", "20 k", "1.5 M"]
        );
        assert_eq!(percent(0.0123), "1.2 %");
        assert_eq!(
            (plural(1, "seed"), plural(3, "seed")),
            ("1 seed".into(), "3 seeds".into())
        );
    }

    #[test]
    fn a_spread_says_never_where_it_must() {
        let show = |values: &[Option<f64>]| {
            let summary = Summary::new(values.iter().copied());
            let Spread { median, spread } = Spread::new(summary.as_ref(), seconds, " s");
            format!("{median} {}", spread.unwrap_or_default())
        };
        assert_eq!(show(&[Some(0.31), Some(0.28), None]), "0.31 s [0.28–never]");
        assert_eq!(show(&[Some(0.31), None, None]), "never [0.31–never]");
        assert_eq!(show(&[None, None]), "never ");
        assert_eq!(show(&[Some(0.5)]), "0.50 s ");
        assert_eq!(show(&[]), "– ");
        assert_eq!(
            show(&[Some(-2.0), Some(1.0), Some(2.0)]),
            "1.00 s [−2.00 to 2.00]"
        );
    }
}
