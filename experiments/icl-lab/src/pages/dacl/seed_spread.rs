//! Mean and standard deviation over the seeds.

use icl_report::summary::{deviation, mean};

/// Quantiles of Student's t distribution for a two-sided interval of 95 %, by degrees of freedom from 1.
const T_95: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];
/// The quantile for more degrees of freedom: that of 30, which is a little too large for them.
const T_95_MANY: f64 = 2.042;

/// Mean and standard deviation of a quantity over the seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SeedSpread {
    /// Number of seeds.
    pub(crate) n: usize,
    /// Mean.
    pub(crate) mean: f64,
    /// Standard deviation with n − 1 as the divisor; `None` for one seed.
    pub(crate) sd: Option<f64>,
}

impl SeedSpread {
    /// Summarises one value per seed. Returns `None` without values.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        Some(Self {
            n: values.len(),
            mean: mean(values)?,
            sd: deviation(values),
        })
    }

    /// Returns half the width of the 95 % interval of the mean, by Student's t distribution; `None` for
    /// one seed.
    pub(crate) fn half_interval(&self) -> Option<f64> {
        let t = T_95.get(self.n.checked_sub(2)?).unwrap_or(&T_95_MANY);
        Some(t * self.sd? / (self.n as f64).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_student() {
        let of = SeedSpread::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!((of.n, of.mean), (5, 3.0));
        // SciPy: t.interval(0.95, 4, 3, sem([1, 2, 3, 4, 5])) is (1.0367568, 4.9632432).
        let (sd, half) = (of.sd.unwrap(), of.half_interval().unwrap());
        assert!((sd - 2.5_f64.sqrt()).abs() < 1e-12);
        // The quantiles have four digits.
        assert!((half - 1.963_243_2).abs() < 1e-3, "{half}");
        let one = SeedSpread::of(&[0.5]).unwrap();
        assert_eq!((one.sd, one.half_interval()), (None, None));
        assert_eq!(SeedSpread::of(&[]), None);
    }
}
