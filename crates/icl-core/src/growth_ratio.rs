//! The ratio by which data grow.

use crate::Error;

/// Growth ratio α = ΔN / (N + ΔN) ∈ [0, 1] of Definition 5.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct GrowthRatio(f64);

impl GrowthRatio {
    /// Creates a growth ratio from its value.
    ///
    /// # Errors
    /// [`Error`] if `alpha` is below 0, above 1 or NaN.
    pub fn try_new(alpha: f64) -> Result<Self, Error> {
        if (0.0..=1.0).contains(&alpha) {
            Ok(Self(alpha))
        } else {
            Err(Error::new("alpha", alpha, "a number from 0 to 1"))
        }
    }

    /// Returns the growth ratio of `n_new` samples added to `n_old`.
    ///
    /// # Panics
    /// If both counts are 0.
    pub fn from_counts(n_old: usize, n_new: usize) -> Self {
        assert!(
            n_old + n_new > 0,
            "a growth ratio needs at least one sample"
        );
        Self(n_new as f64 / (n_old + n_new) as f64)
    }

    /// Returns α as a number.
    pub fn value(self) -> f64 {
        self.0
    }
}
