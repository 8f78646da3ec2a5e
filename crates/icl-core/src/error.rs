//! Errors of configurations and increments.

/// A rejected configuration or increment.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CoreError {
    /// Temperature τ that is not a finite number above 0.
    #[error("temperature: found {found}, expected a number above 0")]
    Temperature {
        /// Rejected value.
        found: f64,
    },
    /// Number of negatives K that is not a finite number above 0.
    #[error("negatives (K): found {found}, expected a number above 0")]
    Negatives {
        /// Rejected value.
        found: f64,
    },
    /// Growth ratio α outside [0, 1].
    #[error("alpha: found {found}, expected a number from 0 to 1")]
    GrowthRatio {
        /// Rejected value.
        found: f64,
    },
    /// Lower end α of a mixing range outside [0, 1].
    #[error("mixing range: found α = {found}, expected a number from 0 to 1")]
    MixingRange {
        /// Rejected value.
        found: f64,
    },
    /// Share of held-out samples that is not between 0 and 1.
    #[error("hold-out: found a share of {found}, expected one above 0 and below 1")]
    HoldOut {
        /// Rejected value.
        found: f64,
    },
    /// Increment with fewer than two old or two new samples: an anchor needs a negative of each kind.
    #[error("increment: found {n_old} old and {n_new} new samples, expected at least 2 of each")]
    IncrementTooSmall {
        /// Number of old samples found.
        n_old: usize,
        /// Number of new samples found.
        n_new: usize,
    },
    /// Increment that contains a sample more than once.
    #[error("increment: sample {index} was found twice, expected every index once")]
    IncrementOverlap {
        /// Index that occurs more than once.
        index: usize,
    },
}

/// Checks the temperature τ and, if it is given, the number of negatives K of a loss.
///
/// # Errors
/// [`CoreError::Temperature`] or [`CoreError::Negatives`] if the value is not a finite number above 0.
pub(crate) fn check_loss(temperature: f64, negatives: Option<f64>) -> Result<(), CoreError> {
    if !(temperature.is_finite() && temperature > 0.0) {
        return Err(CoreError::Temperature { found: temperature });
    }
    match negatives {
        Some(found) if !(found.is_finite() && found > 0.0) => Err(CoreError::Negatives { found }),
        _ => Ok(()),
    }
}
