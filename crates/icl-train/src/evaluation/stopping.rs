//! When a run ends before its last epoch.

use serde::{Deserialize, Serialize};

/// The rule by which a run ends early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopRule {
    /// When the exact risk has found no new minimum for as many evaluations as the patience says.
    ExactRisk,
    /// The paper's: when the epoch's mean training loss has found no new minimum for as many epochs
    /// as the patience says. It follows the noise of the batches as much as any progress.
    TrainingLoss,
    /// Never.
    Never,
}

/// A sequence of values that should fall.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Descent {
    lowest: Option<f64>,
    n_since: usize,
}

impl Descent {
    /// Takes the next value; says how many values have come since the lowest, 0 if it is this one.
    pub(crate) fn push(&mut self, value: f64) -> usize {
        if self.lowest.is_none_or(|lowest| value < lowest) {
            self.lowest = Some(value);
            self.n_since = 0;
        } else {
            self.n_since += 1;
        }
        self.n_since
    }
}
