//! Speed-up of a method over retraining.

use std::cmp::Ordering;

use serde::Serialize;

use crate::record::RunRecord;

/// Factor between two speed-ups below which they are the same.
pub(crate) const SAME: f64 = 1.05;

/// Definition of convergence, and the cost that is counted until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The paper's rule: seconds of training until the end of the epoch of the lowest training loss.
    LowestLossTime,
    /// The paper's rule: the epoch of the lowest training loss.
    LowestLossEpoch,
    /// Our rule: seconds of training until the exact risk is at retraining's plateau + 1 %.
    TargetTime,
    /// Our rule: charged passes until then.
    TargetPasses,
}

impl Rule {
    /// Returns the cost of a run; `None` if it did not converge, or nothing was trained.
    fn cost(self, record: &RunRecord) -> Option<f64> {
        match self {
            Self::LowestLossTime => record.lowest_loss_s,
            Self::LowestLossEpoch => record.lowest_loss_epoch.map(|epoch| epoch as f64),
            Self::TargetTime => record.time_to_target_s,
            Self::TargetPasses => record.charged_to_target,
        }
    }

    fn is_to_target(self) -> bool {
        matches!(self, Self::TargetTime | Self::TargetPasses)
    }
}

/// Speed-up of a method in one seed: `"never"`, `{"ratio": 2.5}` or `"at_start"` in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The target was never reached.
    Never,
    /// Retraining's cost divided by the method's.
    Ratio(f64),
    /// The method was at the target before the first step, so there was nothing to speed up.
    AtStart,
}

impl Outcome {
    /// Orders outcomes from the slowest to the quickest.
    fn order(&self, other: &Self) -> Ordering {
        let rank = |of: &Self| match of {
            Self::Never => (0, 0.0),
            Self::Ratio(ratio) => (1, *ratio),
            Self::AtStart => (2, 0.0),
        };
        let ((a, x), (b, y)) = (rank(self), rank(other));
        a.cmp(&b).then(x.total_cmp(&y))
    }

    /// Returns the middle of two neighbours in order: the mean of two ratios, else the slower one.
    fn between(self, later: Self) -> Self {
        match (self, later) {
            (Self::Ratio(a), Self::Ratio(b)) => Self::Ratio((a + b) / 2.0),
            (earlier, _) => earlier,
        }
    }
}

/// Returns the speed-up of a method in one seed; `None` if the method was not trained, there is no
/// target, or the method reached it and retraining, whose own plateau sets it, never stayed there.
pub fn outcome(rule: Rule, method: &RunRecord, reference: &RunRecord) -> Option<Outcome> {
    if rule.is_to_target() {
        method.target?;
        match method.passes_to_target {
            None => return Some(Outcome::Never),
            Some(0) => return Some(Outcome::AtStart),
            Some(_) => {}
        }
    }
    let (whole, own) = (rule.cost(reference)?, rule.cost(method)?);
    (whole > 0.0 && own > 0.0).then_some(Outcome::Ratio(whole / own))
}

/// Speed-up of a method over the seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SpeedUp {
    /// Number of seeds.
    pub n: usize,
    /// Median.
    pub median: Outcome,
    /// Slowest seed.
    pub least: Outcome,
    /// Quickest seed.
    pub greatest: Outcome,
}

impl SpeedUp {
    /// Summarises outcomes, one per seed; `None` without any.
    ///
    /// ```text
    /// speed-up of a seed = cost of retraining / cost of the method
    /// ```
    ///
    /// Seeds are ordered from never over the ratios to at the start. The median of an even number is
    /// the mean of the middle two if both are ratios, else the slower of them.
    pub fn over(outcomes: impl IntoIterator<Item = Outcome>) -> Option<Self> {
        let mut outcomes: Vec<Outcome> = outcomes.into_iter().collect();
        outcomes.sort_by(Outcome::order);
        let n = outcomes.len();
        Some(Self {
            least: *outcomes.first()?,
            greatest: *outcomes.last()?,
            median: outcomes[(n - 1) / 2].between(outcomes[n / 2]),
            n,
        })
    }

    /// Returns whether the spread of another speed-up over its seeds meets this one's, so that neither is clearly
    /// quicker. A single seed has no spread: speed-ups within 5 % count as equal.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        let is_below = |a: &Outcome, b: &Outcome| match (a, b) {
            (Outcome::Ratio(a), Outcome::Ratio(b)) => SAME * a < *b,
            (a, b) => a.order(b) == Ordering::Less,
        };
        !is_below(&self.greatest, &other.least) && !is_below(&other.greatest, &self.least)
    }

    /// Returns the median if it is a number.
    pub fn median_ratio(&self) -> Option<f64> {
        match self.median {
            Outcome::Ratio(ratio) => Some(ratio),
            Outcome::Never | Outcome::AtStart => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::record;
    use Outcome::{AtStart, Never, Ratio};

    /// Epochs, passes and seconds to the target.
    type Reached = Option<(usize, u64, f64)>;

    fn reaching(method: &str, reached: Reached, lowest: Option<(usize, f64)>) -> RunRecord {
        let mut record = record(method, 0);
        record.target = Some(2.0);
        record.epochs_to_target = reached.map(|(epochs, _, _)| epochs);
        record.passes_to_target = reached.map(|(_, passes, _)| passes);
        record.charged_to_target = record.passes_to_target.map(|n| n as f64);
        record.time_to_target_s = reached.map(|(_, _, seconds)| seconds);
        record.lowest_loss_epoch = lowest.map(|(epoch, _)| epoch);
        record.lowest_loss_s = lowest.map(|(_, seconds)| seconds);
        record
    }

    #[test]
    fn one_seed_by_hand() {
        let retraining = reaching("retraining", Some((40, 4000, 8.0)), Some((60, 12.0)));
        let method = reaching("warm", Some((10, 1600, 2.0)), Some((24, 3.0)));
        let of = |rule| outcome(rule, &method, &retraining);
        assert_eq!(of(Rule::LowestLossTime), Some(Ratio(4.0)));
        assert_eq!(of(Rule::LowestLossEpoch), Some(Ratio(2.5)));
        assert_eq!(of(Rule::TargetTime), Some(Ratio(4.0)));
        assert_eq!(of(Rule::TargetPasses), Some(Ratio(2.5)));
        assert_eq!(
            outcome(Rule::TargetTime, &retraining, &retraining),
            Some(Ratio(1.0))
        );
    }

    #[test]
    fn what_is_no_number_is_a_word() {
        let retraining = reaching("retraining", Some((40, 4000, 8.0)), Some((60, 12.0)));
        let never = reaching("warm", None, Some((24, 3.0)));
        let at_start = reaching("warm", Some((0, 0, 0.0)), Some((24, 3.0)));
        for rule in [Rule::TargetTime, Rule::TargetPasses] {
            assert_eq!(outcome(rule, &never, &retraining), Some(Never));
            assert_eq!(outcome(rule, &at_start, &retraining), Some(AtStart));
        }
        // Within the first epoch is not before the first step.
        let early = reaching("warm", Some((0, 1000, 2.0)), Some((24, 3.0)));
        let found = outcome(Rule::TargetPasses, &early, &retraining);
        assert_eq!(found, Some(Ratio(4.0)));
        // The paper's rule knows neither.
        for method in [&never, &at_start] {
            assert_eq!(
                outcome(Rule::LowestLossTime, method, &retraining),
                Some(Ratio(4.0))
            );
        }
    }

    #[test]
    fn what_cannot_be_said_is_not_said() {
        let untrained = reaching("inference", None, None);
        let retraining = reaching("retraining", None, Some((60, 12.0)));
        assert_eq!(outcome(Rule::LowestLossTime, &untrained, &retraining), None);
        // Retraining never stayed under its own target: a method that did has no factor, one that
        // did not still never did.
        let method = reaching("warm", Some((10, 1600, 2.0)), None);
        assert_eq!(outcome(Rule::TargetTime, &method, &retraining), None);
        assert_eq!(
            outcome(Rule::TargetTime, &untrained, &retraining),
            Some(Never)
        );
        let mut aimless = method;
        aimless.target = None;
        assert_eq!(outcome(Rule::TargetTime, &aimless, &retraining), None);
    }

    #[test]
    fn spreads_that_meet_are_not_apart() {
        let of = |outcomes: &[Outcome]| SpeedUp::over(outcomes.iter().copied()).unwrap();
        let quick = of(&[Ratio(4.0), Ratio(6.0)]);
        assert!(quick.meets(&of(&[Ratio(3.0), Ratio(5.0)])) && quick.meets(&quick));
        assert!(quick.meets(&of(&[Ratio(3.9)])), "within 5 %");
        assert!(!quick.meets(&of(&[Ratio(3.0), Ratio(3.5)])));
        assert!(!of(&[Never]).meets(&quick) && !of(&[AtStart]).meets(&quick));
        assert!(quick.meets(&of(&[Never, AtStart])));
    }

    #[test]
    fn the_median_of_numbers_and_words() {
        let median = |of: &[Outcome]| SpeedUp::over(of.iter().copied()).map(|of| of.median);
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[Ratio(3.0)]), Some(Ratio(3.0)));
        assert_eq!(
            median(&[Ratio(9.0), Ratio(1.0), Ratio(2.0)]),
            Some(Ratio(2.0))
        );
        assert_eq!(median(&[Ratio(2.0), Ratio(3.0)]), Some(Ratio(2.5)));
        assert_eq!(median(&[Never, Ratio(2.0), Never]), Some(Never));
        assert_eq!(median(&[Never, Ratio(2.0)]), Some(Never));
        assert_eq!(median(&[AtStart, Ratio(2.0)]), Some(Ratio(2.0)));
        assert_eq!(median(&[AtStart, Never]), Some(Never));
        assert_eq!(median(&[AtStart, Never, Ratio(0.5)]), Some(Ratio(0.5)));
        assert_eq!(median(&[AtStart, AtStart, Ratio(0.5)]), Some(AtStart));
        let all = SpeedUp::over([AtStart, Ratio(4.0), Never, Ratio(2.0), AtStart]).unwrap();
        assert_eq!(
            (all.least, all.median, all.greatest),
            (Never, Ratio(4.0), AtStart)
        );
    }
}
