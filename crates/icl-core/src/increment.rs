//! The incremental setting: old and new samples, and the ratio by which the data grow.

use crate::CoreError;

/// Growth ratio α = ΔN / (N + ΔN) ∈ [0, 1] of Definition 5.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct GrowthRatio(f64);

impl GrowthRatio {
    /// Creates a growth ratio from its value.
    ///
    /// # Errors
    /// [`CoreError::GrowthRatio`] if `alpha` is below 0, above 1 or NaN.
    pub fn try_new(alpha: f64) -> Result<Self, CoreError> {
        if (0.0..=1.0).contains(&alpha) {
            Ok(Self(alpha))
        } else {
            Err(CoreError::GrowthRatio { found: alpha })
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

/// An increment: the indices of the old data X and of the new data ΔX in one data set
/// (Definition 3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Increment {
    old: Vec<usize>,
    new: Vec<usize>,
}

impl Increment {
    /// Creates an increment of old and new samples.
    ///
    /// # Errors
    /// - [`CoreError::IncrementTooSmall`] if there are fewer than two old or two new samples: an anchor
    ///   needs another sample as its negative;
    /// - [`CoreError::IncrementOverlap`] if an index occurs twice.
    pub fn try_new(old: Vec<usize>, new: Vec<usize>) -> Result<Self, CoreError> {
        if old.len() < 2 || new.len() < 2 {
            return Err(CoreError::IncrementTooSmall {
                n_old: old.len(),
                n_new: new.len(),
            });
        }
        Self::without_overlap(old, new)
    }

    fn without_overlap(old: Vec<usize>, new: Vec<usize>) -> Result<Self, CoreError> {
        let mut all: Vec<usize> = old.iter().chain(&new).copied().collect();
        all.sort_unstable();
        match all.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(CoreError::IncrementOverlap { index: pair[0] }),
            None => Ok(Self { old, new }),
        }
    }

    /// Creates the data before any new sample arrives: ΔX is empty and α = 0. Only a first encoder can
    /// be trained on it.
    ///
    /// # Errors
    /// - [`CoreError::IncrementTooSmall`] if there are fewer than two samples;
    /// - [`CoreError::IncrementOverlap`] if an index occurs twice.
    pub fn before(old: Vec<usize>) -> Result<Self, CoreError> {
        if old.len() < 2 {
            return Err(CoreError::IncrementTooSmall {
                n_old: old.len(),
                n_new: 0,
            });
        }
        Self::without_overlap(old, Vec::new())
    }

    /// Returns the indices of X.
    pub fn old(&self) -> &[usize] {
        &self.old
    }

    /// Returns the indices of ΔX.
    pub fn new_data(&self) -> &[usize] {
        &self.new
    }

    /// Returns the indices of X′ = X ∪ ΔX, those of X first.
    pub fn all(&self) -> Vec<usize> {
        self.old.iter().chain(&self.new).copied().collect()
    }

    /// Returns the growth ratio α of this increment.
    pub fn growth_ratio(&self) -> GrowthRatio {
        GrowthRatio::from_counts(self.old.len(), self.new.len())
    }
}
