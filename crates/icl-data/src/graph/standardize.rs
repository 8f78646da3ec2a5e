//! Standardisation of the columns of a table to mean 0 and variance 1.

use burn::serde::{Deserialize, Serialize};

use crate::outliers::{Limits, ordinary_range};

/// Mean and standard deviation by which a column was standardised, and the range of the values that they are of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(crate = "burn::serde")]
pub(crate) struct ColumnScale {
    mean: f64,
    /// 0 for a constant column, whose values became 0.
    std: f64,
    min: f64,
    max: f64,
}

impl ColumnScale {
    /// Checks whether a standardisation by this scale gives finite numbers.
    pub(crate) fn is_valid(self) -> bool {
        let Self {
            mean,
            std,
            min,
            max,
        } = self;
        [mean, std, min, max].iter().all(|it| it.is_finite()) && std >= 0.0 && min <= max
    }

    /// Returns the nearest value of the range for new values, if a standardised value lies outside, in the units of the
    /// file.
    pub(crate) fn nearest(self, value: f64) -> Option<f64> {
        match self.std > 0.0 {
            true => Limits::of(self.min, self.max).nearest(self.original(value)),
            false => None,
        }
    }

    /// Standardises a value in the units of the file; 0 if the column was constant.
    pub(crate) fn standardized(self, value: f64) -> f64 {
        match self.std > 0.0 {
            true => (value - self.mean) / self.std,
            false => 0.0,
        }
    }

    /// Returns the value from which a standardised one was made.
    pub(crate) fn original(self, value: f64) -> f64 {
        value * self.std + self.mean
    }

    /// Converts a value that was standardised by `other` to this scale; 0 if the column of this scale
    /// was constant.
    pub(crate) fn restandardize(self, value: f64, other: Self) -> f64 {
        self.standardized(other.original(value))
    }
}

/// Standardises each column over all rows: `(x − mean) / std`, where `std` divides by n. Returns the
/// scale of each column.
///
/// Mean and deviation are those of the ordinary values ([`ordinary_range`]): a few extreme ones, such as a sentinel, do
/// not count. `values` is `[n, d]`, row by row, of finite numbers in the range of `f32` (so that no range overflows). A
/// constant column becomes 0. Each column is first scaled to the interval from 0 to 1, which changes nothing in exact
/// arithmetic and prevents squares from underflowing; mean and variance are computed in two passes in `f64`.
pub(crate) fn standardize(values: &mut [f64], d: usize) -> Vec<ColumnScale> {
    let mut scales = Vec::with_capacity(d);
    if values.is_empty() {
        return scales;
    }
    for column in 0..d {
        let all = values.iter().skip(column).step_by(d).copied();
        let [least, greatest] = ordinary_range(all.collect());
        let range = greatest - least;
        let is_ordinary = |value: &f64| (0.0..=1.0).contains(value);
        let (mut sum, mut n) = (0.0, 0.0);
        for value in values.iter_mut().skip(column).step_by(d) {
            // Constant columns are recognised by their range, because the computed variance of
            // equal numbers may differ from 0.
            *value = if range > 0.0 {
                (*value - least) / range
            } else {
                0.0
            };
            if is_ordinary(value) {
                sum += *value;
                n += 1.0;
            }
        }
        let mean = sum / n;
        let ordinary = values.iter().skip(column).step_by(d);
        let ordinary = ordinary.filter(|value| is_ordinary(value));
        let variance = ordinary.map(|value| (value - mean).powi(2)).sum::<f64>() / n;
        if variance > 0.0 {
            let scale = 1.0 / variance.sqrt();
            for value in values.iter_mut().skip(column).step_by(d) {
                *value = (*value - mean) * scale;
            }
        }
        scales.push(ColumnScale {
            mean: least + range * mean,
            std: range * variance.sqrt(),
            min: least,
            max: greatest,
        });
    }
    scales
}

#[cfg(test)]
mod tests {
    use super::*;
    use icl_core::testing::assert_close;

    #[test]
    fn columns_get_mean_0_and_variance_1() {
        let mut values = [1.0, 10.0, 2.0, 30.0, 6.0, 20.0];
        let scales = standardize(&mut values, 2);
        // Column 1: mean 3, variance (4 + 1 + 9)/3; column 2: mean 20, variance 200/3.
        let (a, b) = ((14.0_f64 / 3.0).sqrt(), (200.0_f64 / 3.0).sqrt());
        let expected = [-2.0 / a, -10.0 / b, -1.0 / a, 10.0 / b, 3.0 / a, 0.0];
        assert_close(&values, &expected, 1e-15);
        let found = scales.iter().flat_map(|scale| [scale.mean, scale.std]);
        assert_close(&found.collect::<Vec<_>>(), &[3.0, a, 20.0, b], 1e-15);
    }

    #[test]
    fn a_value_changes_its_scale() {
        let (min, max) = (0.0, 0.0);
        let scale = |mean, std| ColumnScale {
            mean,
            std,
            min,
            max,
        };
        // 2 above the mean of 10 by steps of 3 is 16.
        let value = scale(1.0, 5.0).restandardize(2.0, scale(10.0, 3.0));
        assert_close(&[value], &[3.0], 1e-15);
        // A constant column of the other lost nothing: all its values were the mean.
        assert_eq!(scale(1.0, 5.0).restandardize(0.0, scale(11.0, 0.0)), 2.0);
        assert_eq!(scale(1.0, 0.0).restandardize(2.0, scale(10.0, 3.0)), 0.0);
    }

    #[test]
    fn a_sentinel_moves_neither_mean_nor_deviation() {
        let mut values: Vec<f64> = (0..100).map(|at| f64::from(at % 10)).collect();
        let mut clean = values.clone();
        let scale = standardize(&mut clean, 1)[0];
        values.push(-99_999.0);
        assert_eq!(standardize(&mut values, 1), [scale]);
        assert_close(&values[..100], &clean, 1e-12);
        // 4.5 and its deviation of 2.87: the range for new values goes from −9 to 18.
        assert!(values[100] < -30_000.0);
        assert_eq!(scale.nearest(values[100]), Some(-9.0));
        assert_eq!(scale.nearest(scale.standardized(17.0)), None);
    }

    #[test]
    fn constant_columns_become_0() {
        // The mean of ten times 0.1 is not 0.1 in floating point.
        let mut values = [0.1; 10];
        standardize(&mut values, 1);
        assert_eq!(values, [0.0; 10]);
    }

    #[test]
    fn the_greatest_and_least_values_stay_finite() {
        let (great, small) = (f64::from(f32::MAX), 5e-324);
        let mut values = [great, 0.0, -great, small, great, 0.0];
        standardize(&mut values, 2);
        assert!(values.iter().all(|value| value.is_finite()), "{values:?}");
    }
}
