//! Rules by which a run ends before its last epoch.

use serde::{Deserialize, Serialize};

use crate::evaluation::gain::{Course, ExpectedGain};

/// Rule by which a run ends early.
///
/// The rules that follow the risk also choose the encoder that is returned: that of the evaluation with the lowest
/// risk, the mean of the risk over old and over new samples. The others return the last encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopRule {
    /// Stops when the last doubling of the cost has lowered the risk by less than
    /// [`min_gain`](crate::TrainingSettings::min_gain), so that no more is to be expected of the next one, at as many
    /// evaluations in a row as the standard error of the difference asks for ([`ExpectedGain::n_needed`]).
    Doubling,
    /// Stops when a line through the risk over the logarithm of the cost, fitted to the last two doublings, falls
    /// by less than [`min_gain`](crate::TrainingSettings::min_gain) a doubling, at as many evaluations in a row as the
    /// standard error of the slope asks for.
    Slope,
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
    /// Too small a gain of the last doubling of the cost: [`StopRule::Doubling`].
    Doubling,
    /// Too small a slope of the risk: [`StopRule::Slope`].
    Slope,
    /// No new minimum of the exact risk: [`StopRule::ExactRisk`].
    ExactRisk,
    /// No new minimum of the training loss: [`StopRule::TrainingLoss`].
    TrainingLoss,
    /// The last epoch: no rule ended the run before.
    Epochs,
    /// The budget: [`TrainingSettings::budget`](crate::TrainingSettings::budget).
    Budget,
    /// The caller: [`Callbacks::end_when`](crate::Callbacks::end_when).
    Caller,
}

impl StopRule {
    /// Returns whether evaluations of the exact risk decide when a run ends.
    pub(crate) fn needs_risk(self) -> bool {
        matches!(self, Self::Doubling | Self::Slope | Self::ExactRisk)
    }

    /// Returns whether this rule decides by an expected gain.
    pub(crate) fn expects_gain(self) -> bool {
        matches!(self, Self::Doubling | Self::Slope)
    }

    /// Returns the expected gain by which this rule decides, if it does. `n_old` is the number of old samples
    /// evaluated.
    pub(crate) fn expected_gain(self, course: &Course, n_old: usize) -> Option<ExpectedGain> {
        match self {
            Self::Doubling => course.doubling(n_old),
            Self::Slope => course.slope(n_old),
            Self::ExactRisk | Self::TrainingLoss | Self::Never => None,
        }
    }

    /// Returns whether the run ends after `n_worse` epochs since the lowest training loss.
    pub(crate) fn ends_by_loss(self, n_worse: usize, patience: usize) -> bool {
        self == Self::TrainingLoss && n_worse >= patience
    }

    /// Returns the reason for which the run ends `n_worse` evaluations after the lowest exact risk, when the expected
    /// gain has been too small at `n_small` evaluations in a row, or `None` if it goes on.
    pub(crate) fn ends_by_risk(
        self,
        (n_worse, patience): (usize, usize),
        (gain, n_small, min_gain): (Option<ExpectedGain>, usize, f64),
    ) -> Option<StoppedBy> {
        let is_small = gain.is_some_and(|gain| n_small >= gain.n_needed(min_gain));
        match self {
            Self::Doubling => is_small.then_some(StoppedBy::Doubling),
            Self::Slope => is_small.then_some(StoppedBy::Slope),
            Self::ExactRisk => (n_worse >= patience).then_some(StoppedBy::ExactRisk),
            Self::TrainingLoss | Self::Never => None,
        }
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
        assert!(!StopRule::ExactRisk.ends_by_loss(2, 2));
        let small = Some(ExpectedGain {
            gain: 0.001,
            standard_error: 0.0,
        });
        let ended = |rule: StopRule| rule.ends_by_risk((9, 2), (small, 2, 0.005));
        assert_eq!(ended(StopRule::Doubling), Some(StoppedBy::Doubling));
        assert_eq!(ended(StopRule::Slope), Some(StoppedBy::Slope));
        assert_eq!(ended(StopRule::ExactRisk), Some(StoppedBy::ExactRisk));
        assert_eq!(ended(StopRule::TrainingLoss), None);
        assert_eq!(ended(StopRule::Never), None);
        let goes_on = |rule: StopRule, gain| rule.ends_by_risk((1, 2), (gain, 1, 0.005));
        assert_eq!(goes_on(StopRule::Doubling, small), None);
        assert_eq!(goes_on(StopRule::Slope, None), None);
        assert_eq!(goes_on(StopRule::ExactRisk, small), None);
    }
}
