//! Rejected numbers.

/// A rejected number.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NegativesError {
    /// The AUC is that of no separation.
    #[error("AUC: found {found}, expected a number above 0 and below 1")]
    Auc {
        /// The rejected value.
        found: f64,
    },
    /// The weight λ is not a share.
    #[error("lambda: found {found}, expected a number from 0 to 1")]
    Lambda {
        /// The rejected value.
        found: f64,
    },
    /// The largest K is out of bounds.
    #[error("largest K: found {found}, expected a number from 1 to {largest}")]
    MaxK {
        /// The rejected value.
        found: usize,
        /// The largest one that is taken.
        largest: usize,
    },
    /// There is no separation, or one that is not finite.
    #[error("separation: found {found}, expected at least one finite number")]
    Separation {
        /// The rejected value; not a number if there is none.
        found: f64,
    },
}
