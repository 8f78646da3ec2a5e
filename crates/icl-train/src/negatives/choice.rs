//! The choices by which a training step has its negatives.

use serde::{Deserialize, Serialize};

use crate::error::TrainError;
use crate::negatives::NegativesSchedule;

/// Form in which the number of negatives K enters the loss of a step. The text of a choice is given in parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NegativesForm {
    /// As a factor (`weighted`): K times the mean over all noise samples of the batch, as in Eq. 1.
    #[default]
    Weighted,
    /// As a number of samples (`drawn`): every anchor draws K noise samples of the batch on average
    /// ([`Draws`](icl_core::Draws)), for losses that separate old noise from new K of either.
    ///
    /// A batch with fewer noise samples gives all of them, with a weight that makes up for the rest.
    Drawn,
}

/// Largest number of negatives K* of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NegativesPeak {
    /// Number of negatives of the exact risk, [`TrainingSettings::negatives`](field@crate::TrainingSettings::negatives).
    #[default]
    Reference,
    /// This number.
    Number(f64),
    /// Number that the AUC of the encoder on old and on new data advises at the first evaluation of an update. The
    /// training of a first encoder has no such AUC and takes the number of the exact risk.
    Auto,
}

/// Number of negatives K of the training steps, the same for all losses of a step, so that Theorem 1 holds in each.
///
/// The exact risk keeps [`TrainingSettings::negatives`](field@crate::TrainingSettings::negatives), so that encoders stay comparable.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StepNegatives {
    /// Course of K over a run. Default: fixed.
    pub schedule: NegativesSchedule,
    /// Peak K* of the course, at least 1 unless the course is fixed. Default: the number of the exact risk.
    pub peak: NegativesPeak,
    /// Share of the steps after which [`NegativesSchedule::Ans`] turns, above 0 and below 1. Default: 0.1, as in the paper.
    pub turn: f64,
    /// Form of K in the loss. Default: weighted.
    pub form: NegativesForm,
}

impl Default for StepNegatives {
    fn default() -> Self {
        Self {
            schedule: NegativesSchedule::Fixed,
            peak: NegativesPeak::Reference,
            turn: 0.1,
            form: NegativesForm::Weighted,
        }
    }
}

impl StepNegatives {
    /// Returns K at a step, counted from 0, of a run of at most `n_steps` steps. `reference` is K of the exact risk;
    /// `peak` and `stage` are the numbers that evaluations advised.
    pub(crate) fn at(
        &self,
        (step, n_steps): (u64, u64),
        reference: f64,
        (peak, stage): (Option<f64>, f64),
    ) -> f64 {
        if self.schedule == NegativesSchedule::Stagewise {
            return stage;
        }
        let peak = peak.unwrap_or(self.peak.number(reference));
        self.schedule.at(step, n_steps, peak, self.turn)
    }

    /// Checks that the numbers are in their ranges. `reference` is K of the exact risk, which is checked already.
    ///
    /// # Errors
    /// [`TrainError`] if one is not.
    pub(crate) fn check(&self, reference: f64) -> Result<(), TrainError> {
        let found = self.peak.number(reference);
        let (is_valid, expected) = match self.schedule {
            NegativesSchedule::Fixed | NegativesSchedule::Stagewise => {
                (found > 0.0, "a number above 0")
            }
            _ => (found >= 1.0, "a number of at least 1"),
        };
        let is_valid = found.is_finite() && is_valid;
        TrainError::unless(is_valid, "step_negatives.peak", found, expected)?;
        TrainError::unless(
            self.turn > 0.0 && self.turn < 1.0,
            "step_negatives.turn",
            self.turn,
            "a number above 0 and below 1",
        )
    }
}

impl NegativesPeak {
    /// Returns the peak. `reference` is K of the exact risk.
    fn number(self, reference: f64) -> f64 {
        match self {
            Self::Reference | Self::Auto => reference,
            Self::Number(number) => number,
        }
    }
}
