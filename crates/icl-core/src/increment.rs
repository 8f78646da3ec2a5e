//! The incremental setting: which samples are old, which are new, and how much the data grew.

use crate::CoreError;

/// The growth ratio α = ΔN / (N + ΔN) ∈ [0, 1] of Definition 5.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct GrowthRatio(f64);

impl GrowthRatio {
    /// Checks that `alpha` lies in [0, 1].
    ///
    /// # Errors
    /// [`CoreError::GrowthRatio`] if it does not, or is not a number.
    pub fn try_new(alpha: f64) -> Result<Self, CoreError> {
        if (0.0..=1.0).contains(&alpha) {
            Ok(Self(alpha))
        } else {
            Err(CoreError::GrowthRatio { found: alpha })
        }
    }

    /// The growth ratio of `n_new` samples that join `n_old`.
    ///
    /// # Panics
    /// If both are 0.
    pub fn from_counts(n_old: usize, n_new: usize) -> Self {
        assert!(
            n_old + n_new > 0,
            "a growth ratio needs at least one sample"
        );
        Self(n_new as f64 / (n_old + n_new) as f64)
    }

    /// α as a number.
    pub fn value(self) -> f64 {
        self.0
    }
}

/// One increment: the indices of the old data X and of the new data ΔX in one data set
/// (Definition 3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Increment {
    old: Vec<usize>,
    new: Vec<usize>,
}

impl Increment {
    /// Checks that no index is in both parts or twice in one, and that each part has at least the
    /// two samples that a contrast needs.
    ///
    /// # Errors
    /// [`CoreError::IncrementTooSmall`] or [`CoreError::IncrementOverlap`].
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

    /// The data as they are before anything new arrives: ΔX is empty and α = 0. It is enough to
    /// train a first encoder on, and for nothing else.
    ///
    /// # Errors
    /// [`CoreError::IncrementTooSmall`] or [`CoreError::IncrementOverlap`].
    pub fn before(old: Vec<usize>) -> Result<Self, CoreError> {
        if old.len() < 2 {
            return Err(CoreError::IncrementTooSmall {
                n_old: old.len(),
                n_new: 0,
            });
        }
        Self::without_overlap(old, Vec::new())
    }

    /// Indices of X.
    pub fn old(&self) -> &[usize] {
        &self.old
    }

    /// Indices of ΔX.
    pub fn new_data(&self) -> &[usize] {
        &self.new
    }

    /// Indices of X′ = X ∪ ΔX, old ones first.
    pub fn all(&self) -> Vec<usize> {
        self.old.iter().chain(&self.new).copied().collect()
    }

    /// α of this increment.
    pub fn growth_ratio(&self) -> GrowthRatio {
        GrowthRatio::from_counts(self.old.len(), self.new.len())
    }
}
