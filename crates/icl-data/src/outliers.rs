//! Values outside the range of the data that an encoder was trained on.

use std::fmt;

use burn::serde::{Deserialize, Serialize};

use crate::error::DataError;
use crate::place::Found;

/// Number of outliers that are described one by one.
const DESCRIBED: usize = 3;
/// Number of ranges between the ordinary values of a feature and an extreme one, at least.
const GAP: f64 = 10.0;
/// Share of the values of a feature at either end that may be extreme: one in so many.
const RARE: usize = 100;
/// Smallest number of values from which extreme ones can be recognised.
const MIN_VALUES: usize = 10;

/// Treatment of values outside the range of the data that an encoder was trained on.
///
/// The range of a feature goes from its least value to its greatest, and by as much again below and above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(crate = "burn::serde", rename_all = "kebab-case")]
pub enum Outliers {
    /// `clip`: they become the nearest value of the range.
    #[default]
    Clip,
    /// `error`: they are an error.
    Error,
    /// `keep`: they stay as they are.
    Keep,
}

impl Outliers {
    /// Returns the notes about the outliers of a data set: their number and the first of them.
    ///
    /// # Errors
    /// [`DataError`] if there is one and it is to be an error.
    pub(crate) fn notes(self, data: &str, found: &OutliersFound) -> Result<Vec<String>, DataError> {
        let Some(first) = found.first.first() else {
            return Ok(Vec::new());
        };
        let done = match self {
            Self::Clip => "were clipped",
            Self::Keep => "were kept",
            Self::Error => {
                return Err(DataError::new(
                    format!("data set {}: {}", Found::new(data), first.place),
                    first.found(),
                    format!(
                        "{} ({} such values; `--outliers clip` clips them)",
                        first.expected(),
                        found.n
                    ),
                ));
            }
        };
        let n = found.n;
        let mut notes = vec![format!(
            "{data}: {n} values outside the range of the encoder's data {done}:"
        )];
        let described = found.first.iter();
        notes.extend(described.map(|outlier| format!("{data}: {outlier}")));
        Ok(notes)
    }
}

/// Value outside the range of the data that an encoder was trained on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outlier {
    /// Place of the value, such as `row 17, column price`; rows, graphs and nodes count from 1.
    pub(crate) place: String,
    /// Value, in the units of the file.
    pub(crate) value: f64,
    /// Distance from the mean of the encoder's data in their standard deviations; negative below the mean.
    pub(crate) deviations: f64,
    /// Nearest value of the range, in the units of the file.
    pub(crate) nearest: f64,
}

impl Outlier {
    fn found(&self) -> String {
        let side = if self.deviations < 0.0 {
            "below"
        } else {
            "above"
        };
        let (value, deviations) = (shown(self.value), shown(self.deviations.abs().round()));
        format!("{value}, {deviations} standard deviations {side} the mean of the encoder's data")
    }

    fn expected(&self) -> String {
        let bound = if self.deviations < 0.0 {
            "least"
        } else {
            "most"
        };
        format!("at {bound} {}", shown(self.nearest))
    }
}

impl fmt::Display for Outlier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (found, expected) = (self.found(), self.expected());
        write!(f, "{}: found {found}, expected {expected}", self.place)
    }
}

/// Returns a number as it is read best: with an exponent where it would have more than fifteen digits.
fn shown(value: f64) -> String {
    match value.abs() {
        size if size >= 1e15 || (size > 0.0 && size < 1e-5) => format!("{value:e}"),
        _ => value.to_string(),
    }
}

/// Outliers of a data set: their number, and the first of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct OutliersFound {
    /// Number of outliers.
    pub(crate) n: usize,
    /// The first outliers, at most three.
    first: Vec<Outlier>,
}

impl OutliersFound {
    /// Adds an outlier.
    pub(crate) fn add(&mut self, outlier: impl FnOnce() -> Outlier) {
        self.n += 1;
        if self.first.len() < DESCRIBED {
            self.first.push(outlier());
        }
    }
}

/// Range of the values that a feature may have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Limits {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Limits {
    /// Returns the range for a feature whose values lie between these two in the encoder's data.
    pub(crate) fn of(min: f64, max: f64) -> Self {
        // Halves are subtracted, because the difference of two finite numbers may overflow.
        let width = 2.0 * (max / 2.0 - min / 2.0);
        Self {
            low: min - width,
            high: max + width,
        }
    }

    /// Returns the nearest value of the range, if this one lies outside.
    pub(crate) fn nearest(self, value: f64) -> Option<f64> {
        let nearest = value.clamp(self.low, self.high);
        (nearest != value).then_some(nearest)
    }
}

/// Returns the least and the greatest of the ordinary values: all but those few at either end, at most one in a hundred
/// and always one, that lie more than ten times as far from all others as these lie from one another. Such a value is a
/// sentinel (−99999) or a slip of the keyboard, and would decide mean and standard deviation alone.
///
/// The range begins as that of all values but the hundredth part at either end, and takes in the next value as long as
/// that lies within ten times its own width. `values` are finite and at least one.
pub(crate) fn ordinary_range(mut values: Vec<f64>) -> [f64; 2] {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len();
    let n_rare = if n < MIN_VALUES { 0 } else { (n / RARE).max(1) };
    let (mut first, mut last) = (n_rare, n - 1 - n_rare);
    // Without a width there is nothing to compare with.
    if values[first] == values[last] {
        return [values[0], values[n - 1]];
    }
    loop {
        let reach = GAP * (values[last] - values[first]);
        let is_below = first > 0 && values[first] - values[first - 1] <= reach;
        let is_above = last + 1 < n && values[last + 1] - values[last] <= reach;
        first -= usize::from(is_below);
        last += usize::from(is_above);
        if !is_below && !is_above {
            return [values[first], values[last]];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_values_far_from_all_others_are_not_ordinary() {
        let normal: Vec<f64> = (0..200).map(|at| f64::from(at % 50)).collect();
        let with = |others: &[f64]| ordinary_range([&normal[..], others].concat());
        assert_eq!(with(&[]), [0.0, 49.0]);
        assert_eq!(with(&[-99_999.0]), [0.0, 49.0]);
        assert_eq!(with(&[-99_999.0, 1e30]), [0.0, 49.0]);
        assert_eq!(with(&[-1e308, 1e308]), [0.0, 49.0]);
        // Within ten ranges, also step by step.
        assert_eq!(with(&[-400.0, 4000.0]), [-400.0, 4000.0]);
        // More than one in a hundred are a part of the data.
        assert_eq!(with(&[-99_999.0; 5]), [-99_999.0, 49.0]);
        // Rare values without a common value to compare with, and few values, are as they are.
        let mut rare = vec![0.0; 200];
        rare[7] = 1.0;
        assert_eq!(ordinary_range(rare), [0.0, 1.0]);
        assert_eq!(ordinary_range(vec![1.0, 2.0, 1e9]), [1.0, 1e9]);
    }

    #[test]
    fn heavy_tails_are_ordinary() {
        // Quantiles of a log-normal distribution of σ = 2.
        let values: Vec<f64> = (1..2000)
            .map(|at| (4.0 * (f64::from(at) / 1000.0 - 1.0)).exp())
            .collect();
        let [min, max] = ordinary_range(values.clone());
        assert_eq!([min, max], [values[0], values[values.len() - 1]]);
    }

    #[test]
    fn limits_are_a_range_below_and_above() {
        let limits = Limits::of(-1.0, 3.0);
        let found = [-6.0, -5.0, 0.0, 7.0, 8.0].map(|value| limits.nearest(value));
        assert_eq!(found, [Some(-5.0), None, None, None, Some(7.0)]);
        let widest = Limits::of(-f64::MAX, f64::MAX);
        assert_eq!(widest.nearest(f64::MAX), None);
    }

    #[test]
    fn an_outlier_says_where_and_by_how_much() {
        let outlier = Outlier {
            place: "row 17, column price".into(),
            value: -99_999.0,
            deviations: -5213.4,
            nearest: -12.5,
        };
        assert_eq!(
            outlier.to_string(),
            "row 17, column price: found -99999, 5213 standard deviations below the mean of the encoder's data, expected \
             at least -12.5"
        );
        let extreme = Outlier {
            value: 1e30,
            deviations: 4.168_785_371_863_317e29,
            nearest: -1e-44,
            ..outlier.clone()
        };
        let text = "row 17, column price: found 1e30, 4.168785371863317e29 standard deviations above the mean of the \
                    encoder's data, expected at most -1e-44";
        assert_eq!(extreme.to_string(), text);
        let mut found = OutliersFound::default();
        (0..5).for_each(|_| found.add(|| outlier.clone()));
        assert_eq!((found.n, found.first.len()), (5, 3));
    }
}
