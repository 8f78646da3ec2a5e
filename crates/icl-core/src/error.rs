//! What can be wrong with a value that a user gave.

/// A rejected configuration or increment.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CoreError {
    /// τ must be a positive, finite number.
    #[error("temperature: found {found}, expected a number above 0")]
    Temperature {
        /// The rejected value.
        found: f64,
    },
    /// K must be a positive, finite number.
    #[error("negatives (K): found {found}, expected a number above 0")]
    Negatives {
        /// The rejected value.
        found: f64,
    },
    /// α lies in [0, 1].
    #[error("alpha: found {found}, expected a number from 0 to 1")]
    GrowthRatio {
        /// The rejected value.
        found: f64,
    },
    /// A contrast needs a sample and another one on both sides.
    #[error("increment: found {n_old} old and {n_new} new samples, expected at least 2 of each")]
    IncrementTooSmall {
        /// Old samples found.
        n_old: usize,
        /// New samples found.
        n_new: usize,
    },
    /// A sample may stand in an increment once.
    #[error("increment: sample {index} was found twice, expected every index once")]
    IncrementOverlap {
        /// The index that repeats.
        index: usize,
    },
}
