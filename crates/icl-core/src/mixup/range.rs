//! The distribution of the mixing coefficient.

use std::fmt;

use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::{Error, Rng};

/// Range [α, 1] from which the mixing coefficient λ of a view is drawn, uniformly (DACL, Eq. 3 and
/// Algorithm 1, line 5).
///
/// λ is the share of the sample itself. With α below 0.5 the partner may dominate; with α = 1 there is no
/// noise.
///
/// ```
/// use icl_core::{Seed, mixup::MixingRange};
///
/// let range = MixingRange::try_new(0.9)?;
/// let lambda = range.draw(&mut Seed::new(1).rng());
/// assert!((0.9..=1.0).contains(&lambda));
/// # Ok::<(), icl_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct MixingRange(f64);

impl MixingRange {
    /// Creates the range from α to 1.
    ///
    /// # Errors
    /// [`Error`] if `alpha` is below 0, above 1 or NaN.
    pub fn try_new(alpha: f64) -> Result<Self, Error> {
        if (0.0..=1.0).contains(&alpha) {
            Ok(Self(alpha))
        } else {
            Err(Error::new(
                "mixing range",
                format!("α = {alpha}"),
                "a number from 0 to 1",
            ))
        }
    }

    /// Returns a note if the range is allowed but rarely makes sense.
    pub fn note(self) -> Option<MixupNote> {
        match self.0 {
            1.0 => Some(MixupNote::NoNoise),
            ..0.5 => Some(MixupNote::PartnerMayDominate),
            _ => None,
        }
    }

    /// Draws λ ~ U(α, 1).
    pub fn draw(self, rng: &mut Rng) -> f32 {
        // 1 − (1 − α)·u is exactly 1 at α = 1, and never below α but for rounding to f32.
        let share = (1.0 - self.0) * rng.random::<f64>();
        (1.0 - share) as f32
    }
}

/// Note about an allowed setting of noise that rarely makes sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MixupNote {
    /// Both views of every pair are the same.
    NoNoise,
    /// α is below 0.5, so that the partner may have the larger share of a view.
    PartnerMayDominate,
}

impl fmt::Display for MixupNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoNoise => "no noise: both views are the same",
            Self::PartnerMayDominate => {
                "alpha of the mixing coefficient is below 0.5: the partner may have the larger share of a view"
            }
        })
    }
}

impl TryFrom<f64> for MixingRange {
    type Error = Error;

    fn try_from(alpha: f64) -> Result<Self, Error> {
        Self::try_new(alpha)
    }
}

impl From<MixingRange> for f64 {
    fn from(range: MixingRange) -> Self {
        range.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    /// Mean (1 + α)/2, variance (1 − α)²/12 and least value at 5 standard errors, and the distance of
    /// Kolmogorov and Smirnov.
    #[test]
    fn lambda_is_uniform() {
        const N: usize = 100_000;
        for alpha in [0.0, 0.5, 0.9] {
            let range = MixingRange::try_new(alpha).unwrap();
            let mut rng = Seed::new(7).rng();
            let mut draws: Vec<f64> = (0..N).map(|_| f64::from(range.draw(&mut rng))).collect();
            let width = 1.0 - alpha;
            let mean = draws.iter().sum::<f64>() / N as f64;
            let deviation = width / 12_f64.sqrt();
            assert!((mean - (1.0 + alpha) / 2.0).abs() < 5.0 * deviation / (N as f64).sqrt());
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / N as f64;
            // The variance of a uniform variable's square deviation is width⁴/180.
            let error = width.powi(2) / (180.0 * N as f64).sqrt();
            assert!((variance - width.powi(2) / 12.0).abs() < 5.0 * error);
            draws.sort_by(f64::total_cmp);
            assert!(draws[0] >= alpha - 1e-7 && draws[N - 1] <= 1.0);
            let distance = |(at, x): (usize, &f64)| {
                let expected = (x - alpha) / width;
                let [below, above] = [at, at + 1].map(|n| n as f64 / N as f64);
                (expected - below).abs().max((above - expected).abs())
            };
            let largest = draws.iter().enumerate().map(distance).fold(0.0, f64::max);
            // Exceeded once in 10⁵ tests: √(ln(2/10⁻⁵)/2).
            assert!(largest * (N as f64).sqrt() < 2.47, "{largest}");
        }
        let none = MixingRange::try_new(1.0).unwrap();
        assert_eq!(none.draw(&mut Seed::new(1).rng()), 1.0);
    }

    #[test]
    fn a_range_outside_the_interval_is_an_error() {
        for alpha in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            let error = MixingRange::try_new(alpha).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("mixing range: found α = {alpha}, expected a number from 0 to 1")
            );
        }
    }
}
