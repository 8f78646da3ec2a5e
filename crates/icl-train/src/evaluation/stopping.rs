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
    /// [`min_gain`](crate::TrainingSettings::min_gain), so that the next one promises no more. It must hold at several
    /// evaluations in a row: the larger the standard error of the difference, the more ([`ExpectedGain::n_needed`]).
    Doubling,
    /// Stops when a line through the risk over the logarithm of the cost, fitted to the last two doublings, falls by
    /// less than [`min_gain`](crate::TrainingSettings::min_gain) a doubling. It must hold at several evaluations in a
    /// row: the larger the standard error of the slope, the more.
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

    /// Returns the state of this rule if it decides by an expected gain.
    pub(crate) fn by_gain(self, min_gain: f64) -> Option<GainRule> {
        match self {
            Self::Doubling => Some(GainRule::doubling(min_gain)),
            Self::Slope => Some(GainRule::slope(min_gain)),
            Self::ExactRisk | Self::TrainingLoss | Self::Never => None,
        }
    }

    /// Returns whether the run ends after `n_worse` epochs since the lowest training loss.
    pub(crate) fn ends_by_loss(self, n_worse: usize, patience: usize) -> bool {
        self == Self::TrainingLoss && n_worse >= patience
    }

    /// Returns whether the run ends `n_worse` evaluations after the lowest exact risk.
    pub(crate) fn ends_by_risk(self, n_worse: usize, patience: usize) -> bool {
        self == Self::ExactRisk && n_worse >= patience
    }
}

/// Number of steps before which the risk says nothing: the optimizer's moments and the average of the
/// parameters still follow the start.
const SETTLED: u64 = 64;

/// Stopping rule for any training loop: the end comes when another doubling of the cost is not worth it.
///
/// The cost is what training is to save, in any unit that grows: samples, steps, seconds. The risk, or the loss of
/// each sample, is always over the same samples in the same views, best those of the averaged parameters
/// ([`WeightAverage`](crate::WeightAverage)). Evaluations may be at any costs; two or more in each doubling are
/// enough. Leave out those of the first steps, in which the average still follows the start and the gain looks too
/// small; the trainer, where [`StopRule::Doubling`] and [`StopRule::Slope`] are this rule, leaves out 64 steps. The
/// state can be serialised; a rule that is read back decides alike.
///
/// ```
/// use icl_train::{GainRule, StoppedBy};
///
/// let mut rule = GainRule::doubling(0.05);
/// // The risk of a training that approaches 1: after 25 epochs another doubling lowers it by less than 5 %.
/// let end = (1..1000).find(|&epoch| {
///     let risk = 1.0 + 1.0 / epoch as f64;
///     rule.push(epoch as f64, risk) == Some(StoppedBy::Doubling)
/// });
/// assert_eq!(end, Some(25));
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GainRule {
    /// Reason that this rule gives: the gain of a doubling, or a slope.
    by: StoppedBy,
    min_gain: f64,
    course: Course,
    /// Number of old samples evaluated.
    n_old: usize,
    /// Number of evaluations in a row at which the gain was too small.
    n_small: usize,
}

impl GainRule {
    /// Creates the rule of the last doubling: the mean risk at costs of (C/2, C] is compared with that at (C/4, C/2],
    /// and `min_gain` is the relative fall that is worth a doubling, such as 0.005.
    ///
    /// # Panics
    /// If `min_gain` is below 0 or not finite.
    pub fn doubling(min_gain: f64) -> Self {
        Self::new(StoppedBy::Doubling, min_gain)
    }

    /// Creates the rule of the slope of a line through the risk over log₂ of the cost, fitted to the last two
    /// doublings.
    ///
    /// # Panics
    /// If `min_gain` is below 0 or not finite.
    pub fn slope(min_gain: f64) -> Self {
        Self::new(StoppedBy::Slope, min_gain)
    }

    fn new(by: StoppedBy, min_gain: f64) -> Self {
        assert!(
            min_gain.is_finite() && min_gain >= 0.0,
            "found a minimum gain of {min_gain}, expected a number of at least 0"
        );
        Self {
            by,
            min_gain,
            course: Course::default(),
            n_old: 0,
            n_small: 0,
        }
    }

    /// Adds an evaluation of which only the mean risk is known, at the cost of the training so far. Returns the
    /// reason to stop, if training should.
    ///
    /// The rule of the doubling then has no standard error: it always ends at the second evaluation in a row with too
    /// small a gain, where noisy losses would ask for up to 12. The rule of the slope loses nothing. A risk that is
    /// not finite never ends a training.
    ///
    /// # Panics
    /// If earlier evaluations had the losses of several samples.
    pub fn push(&mut self, cost: f64, risk: f64) -> Option<StoppedBy> {
        self.push_losses(cost, vec![risk], 1)
    }

    /// Adds an evaluation with the loss of each sample, of which the first `n_old` are old: all of them where a loop
    /// does not distinguish them. The risk is the mean of the risk over old and over new samples. Returns the reason
    /// to stop, if training should.
    ///
    /// The gain has a standard error, from paired differences of each sample's loss: the noisier it is, the more
    /// evaluations in a row must have too small a gain ([`ExpectedGain::n_needed`]).
    ///
    /// # Panics
    /// If there are fewer than `n_old` losses, or not as many as at earlier evaluations.
    pub fn push_losses(&mut self, cost: f64, losses: Vec<f64>, n_old: usize) -> Option<StoppedBy> {
        assert!(
            n_old <= losses.len(),
            "found {} losses, expected at least {n_old}, one for each old sample",
            losses.len()
        );
        self.course.push(cost, losses);
        self.n_old = n_old;
        let gain = self.gain();
        let gain = gain.filter(|gain| gain.gain.is_finite() && gain.is_below(self.min_gain));
        self.n_small = gain.map_or(0, |_| self.n_small + 1);
        let ends = gain.is_some_and(|gain| self.n_small >= gain.n_needed(self.min_gain));
        ends.then_some(self.by)
    }

    /// Adds an evaluation after `n_steps` steps of a run.
    pub(crate) fn push_after(
        &mut self,
        n_steps: u64,
        cost: f64,
        losses: Vec<f64>,
        n_old: usize,
    ) -> Option<StoppedBy> {
        match n_steps < SETTLED {
            true => None,
            false => self.push_losses(cost, losses, n_old),
        }
    }

    /// Returns the gain that the next doubling of the cost is expected to bring, or `None` while there are too few
    /// evaluations: the doubling needs one at a quarter to half of the cost, the slope needs four.
    pub fn gain(&self) -> Option<ExpectedGain> {
        match self.by {
            StoppedBy::Slope => self.course.slope(self.n_old),
            _ => self.course.doubling(self.n_old),
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
        assert!(StopRule::ExactRisk.ends_by_risk(2, 2));
        assert!(!StopRule::ExactRisk.ends_by_risk(1, 2));
        assert!(!StopRule::TrainingLoss.ends_by_risk(9, 2));
        assert!(!StopRule::Doubling.ends_by_risk(9, 2));
        let by = |rule: StopRule| rule.by_gain(0.005).map(|rule| rule.by);
        assert_eq!(by(StopRule::Doubling), Some(StoppedBy::Doubling));
        assert_eq!(by(StopRule::Slope), Some(StoppedBy::Slope));
        assert_eq!(by(StopRule::ExactRisk), None);
        assert_eq!(by(StopRule::TrainingLoss), None);
        assert_eq!(by(StopRule::Never), None);
    }

    #[test]
    fn a_gain_must_be_small_twice_and_may_recover() {
        let mut rule = GainRule::doubling(0.1);
        let risks = [2.0, 1.95, 1.5, 1.45, 1.45];
        let costs = [1.0, 2.0, 4.0, 8.0, 16.0];
        let ends = costs.into_iter().zip(risks);
        let ends: Vec<Option<StoppedBy>> = ends.map(|(c, r)| rule.push(c, r)).collect();
        // Gains of 2.5 %, 23 %, 3.3 % and 0.
        assert_eq!(ends, [None, None, None, None, Some(StoppedBy::Doubling)]);
    }

    #[test]
    fn the_first_steps_of_a_run_are_left_out() {
        let mut rule = GainRule::doubling(0.1);
        for (n_steps, cost) in [(SETTLED - 1, 10.0), (SETTLED, 20.0)] {
            assert_eq!(rule.push_after(n_steps, cost, vec![1.0; 4], 2), None);
        }
        assert_eq!(rule.gain(), None);
        assert_eq!(rule.push_after(SETTLED + 1, 40.0, vec![1.0; 4], 2), None);
        assert_eq!(rule.gain().unwrap().gain, 0.0);
    }
}
