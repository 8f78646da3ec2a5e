//! Statistics of one feature over the old data.

use burn::serde::{Deserialize, Serialize};

/// Statistics of one feature over the old data. Missing values do not count.
///
/// They do not change when new data arrive, as an encoder that was trained on the old data expects.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(crate = "burn::serde")]
pub struct FeatureStatistics {
    /// Mean.
    pub mean: f64,
    /// Standard deviation of the population (division by n), above 0.
    pub sd: f64,
    /// Smallest value.
    pub min: f32,
    /// Largest value.
    pub max: f32,
    /// Smallest value above 0, if there is one.
    pub min_positive: Option<f32>,
    /// Skewness of the population, `mean((x − mean)³) / sd³`.
    pub skewness: f64,
    /// Number that is subtracted from the values of the file before they become features; the other statistics are
    /// those of the differences. A column has one where its deviation is so small next to its values, below 2⁻¹⁴ of the
    /// largest, that single precision would keep too few digits of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<f64>,
}

impl FeatureStatistics {
    /// Computes the statistics of these values, which are finite and not all equal.
    pub(super) fn of(values: impl Iterator<Item = f32> + Clone) -> Self {
        let (mut n, mut sum) = (0.0, 0.0);
        let (mut min, mut max) = (f32::INFINITY, f32::NEG_INFINITY);
        let mut min_positive = None;
        for value in values.clone() {
            n += 1.0;
            sum += f64::from(value);
            min = min.min(value);
            max = max.max(value);
            if value > 0.0 {
                min_positive = Some(min_positive.map_or(value, |least: f32| least.min(value)));
            }
        }
        let mean = sum / n;
        // In a second pass: the sum of squares less the square of the sum would cancel.
        let (mut squares, mut cubes) = (0.0, 0.0);
        for value in values {
            let difference = f64::from(value) - mean;
            squares += difference * difference;
            cubes += difference * difference * difference;
        }
        let sd = (squares / n).sqrt();
        Self {
            mean,
            sd,
            min,
            max,
            min_positive,
            skewness: cubes / n / (sd * sd * sd),
            offset: None,
        }
    }

    /// Returns the offset ε of geometric mixing: half the smallest value above 0, or 0 if there is
    /// none.
    pub fn epsilon(&self) -> f32 {
        self.min_positive.map_or(0.0, |least| least / 2.0)
    }

    /// Returns `(x − mean) / sd`, at most the largest number of single precision.
    pub fn standardize(&self, value: f32) -> f32 {
        let scaled = (f64::from(value) - self.mean) / self.sd;
        scaled.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_population() {
        let values = [0.0_f32, 1.0, 1.0, 6.0];
        let found = FeatureStatistics::of(values.into_iter());
        assert_eq!((found.mean, found.min, found.max), (2.0, 0.0, 6.0));
        // Deviations −2, −1, −1, 4: squares 22, cubes 54.
        assert!((found.sd - 5.5_f64.sqrt()).abs() < 1e-12);
        assert!((found.skewness - 13.5 / 5.5_f64.powf(1.5)).abs() < 1e-12);
        assert_eq!(found.min_positive, Some(1.0));
        assert_eq!(found.epsilon(), 0.5);
        assert_eq!(found.standardize(2.0), 0.0);
        let negative = FeatureStatistics::of([-3.0, -1.0].into_iter());
        assert_eq!((negative.epsilon(), negative.skewness), (0.0, 0.0));
    }

    #[test]
    fn extreme_values_stay_finite() {
        let found = FeatureStatistics::of([1e-45, 0.0].into_iter());
        assert!(found.sd > 0.0);
        assert_eq!(found.standardize(f32::MAX), f32::MAX);
        assert_eq!(found.standardize(f32::MIN), f32::MIN);
    }
}
