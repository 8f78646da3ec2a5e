//! Rules by which a run ends before its last epoch.

use serde::{Deserialize, Serialize};

/// Rule by which a run ends early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopRule {
    /// Stops when the exact risk has reached no new minimum for
    /// [`patience`](crate::TrainingSettings::patience) evaluations.
    ExactRisk,
    /// Stops when the mean training loss of an epoch has reached no new minimum for
    /// [`patience`](crate::TrainingSettings::patience) epochs: the rule of the paper. It
    /// follows the noise of the batches as much as any progress.
    TrainingLoss,
    /// Never stops early.
    Never,
}

/// Rule or limit that ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoppedBy {
    /// No new minimum of the exact risk: [`StopRule::ExactRisk`].
    ExactRisk,
    /// No new minimum of the training loss: [`StopRule::TrainingLoss`].
    TrainingLoss,
    /// The last epoch: no rule ended the run before.
    Epochs,
}

impl StopRule {
    /// Returns whether evaluations of the exact risk decide when a run ends.
    pub(crate) fn needs_risk(self) -> bool {
        self == Self::ExactRisk
    }

    /// Returns whether the run ends after `n_worse` epochs since the lowest training loss.
    pub(crate) fn ends_by_loss(self, n_worse: usize, patience: usize) -> bool {
        self == Self::TrainingLoss && n_worse >= patience
    }

    /// Returns whether the run ends after `n_worse` evaluations since the lowest exact risk.
    pub(crate) fn ends_by_risk(self, n_worse: usize, patience: usize) -> bool {
        self == Self::ExactRisk && n_worse >= patience
    }
}

/// Minimum of a sequence, and the number of values since.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Descent {
    lowest: Option<f64>,
    n_since: usize,
}

impl Descent {
    /// Adds the next value, and returns the number of values since the lowest: 0 if this value is the
    /// lowest.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descent_counts_values_since_its_minimum() {
        let mut descent = Descent::default();
        let counts = [3.0, 4.0, 3.0, 2.0, 5.0].map(|value| descent.push(value));
        assert_eq!(counts, [0, 1, 2, 0, 1]);
    }

    #[test]
    fn each_rule_follows_its_own_sequence() {
        assert!(StopRule::TrainingLoss.ends_by_loss(2, 2));
        assert!(!StopRule::TrainingLoss.ends_by_loss(1, 2));
        assert!(!StopRule::TrainingLoss.ends_by_risk(2, 2));
        assert!(StopRule::ExactRisk.ends_by_risk(2, 2));
        assert!(!StopRule::ExactRisk.ends_by_loss(2, 2));
        assert!(!StopRule::Never.ends_by_loss(9, 2) && !StopRule::Never.ends_by_risk(9, 2));
    }
}
