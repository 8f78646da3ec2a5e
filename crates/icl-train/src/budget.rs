//! The budget of a run.

use serde::{Deserialize, Serialize};

use crate::error::TrainError;

/// Number of places into which a run under a budget divides its course: schedules take a place instead of a step.
pub(crate) const PLACES: u64 = 1 << 20;

/// Budget of a run: the charged cost ([`Cost::charged`](crate::Cost::charged)) that it does not exceed.
///
/// A run with a budget knows its length. Its share of old data ([`Sampling::Widening`](crate::Sampling::Widening)), a
/// rate that falls ([`RateChoice::Linear`](crate::RateChoice::Linear)) and its average
/// ([`average_decay`](field@crate::TrainingSettings::average_decay)) then follow the share of the budget that is spent.
/// A run that resumes with a larger budget continues at the share of that budget that it has spent.
///
/// ```
/// use icl_train::Budget;
///
/// // θ₀ was trained with 60 passes for each sample; a tenth of that for the 1000 samples of X′.
/// let budget = Budget::OfRetraining { share: 0.1, passes_per_sample: 60.0 };
/// assert_eq!(budget.passes(1000), 6000.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Budget {
    /// Charged cost in full passes, above 0.
    Passes(f64),
    /// Share of what retraining on all data would cost if it took as many passes for each sample as the training of θ₀
    /// did.
    OfRetraining {
        /// Share, above 0.
        share: f64,
        /// Charged passes of the training of θ₀ divided by the number of its samples, above 0.
        passes_per_sample: f64,
    },
}

impl Budget {
    /// Returns the budget in full passes for data of this many samples, old and new.
    pub fn passes(self, n_samples: usize) -> f64 {
        match self {
            Self::Passes(passes) => passes,
            Self::OfRetraining {
                share,
                passes_per_sample,
            } => share * passes_per_sample * n_samples as f64,
        }
    }

    /// Checks that every number is above 0 and finite.
    ///
    /// # Errors
    /// [`TrainError`] for the first that is not.
    pub(crate) fn check(self) -> Result<(), TrainError> {
        let numbers: &[_] = match &self {
            Self::Passes(passes) => &[("budget", *passes)],
            Self::OfRetraining {
                share,
                passes_per_sample,
            } => &[
                ("budget.share", *share),
                ("budget.passes_per_sample", *passes_per_sample),
            ],
        };
        for &(field, found) in numbers {
            let is_valid = found.is_finite() && found > 0.0;
            TrainError::unless(is_valid, field, found, "a number above 0")?;
        }
        Ok(())
    }
}
