//! How much sooner than retraining a method was there, over the seeds.

use std::cmp::Ordering;

use crate::RunRecord;
use crate::paper::Cell;

/// What counts as being there, and what is counted until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The paper's: seconds of training until the end of the epoch of the lowest training loss.
    LowestLossTime,
    /// The paper's: the epoch of the lowest training loss.
    LowestLossEpoch,
    /// Ours: seconds of training until the exact risk is at retraining's plateau + 1 %.
    TargetTime,
    /// Ours: encoder sample passes until then.
    TargetPasses,
}

impl Rule {
    /// What a method paid; `None` if it did not get there, or was not trained.
    fn cost(self, record: &RunRecord) -> Option<f64> {
        match self {
            Self::LowestLossTime => record.lowest_loss_s,
            Self::LowestLossEpoch => record.lowest_loss_epoch.map(|epoch| epoch as f64),
            Self::TargetTime => record.time_to_target_s,
            Self::TargetPasses => record.passes_to_target.map(|passes| passes as f64),
        }
    }

    fn is_to_target(self) -> bool {
        matches!(self, Self::TargetTime | Self::TargetPasses)
    }
}

/// What one seed says of a method's speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// It never reached the target.
    Never,
    /// Retraining's cost over its own.
    Ratio(f64),
    /// It was at the target before the first step: there was nothing to speed up, and no number
    /// says by how much it was quicker.
    AtStart,
}

impl Outcome {
    /// From the slowest to the quickest.
    fn order(&self, other: &Self) -> Ordering {
        let rank = |of: &Self| match of {
            Self::Never => (0, 0.0),
            Self::Ratio(ratio) => (1, *ratio),
            Self::AtStart => (2, 0.0),
        };
        let ((a, x), (b, y)) = (rank(self), rank(other));
        a.cmp(&b).then(x.total_cmp(&y))
    }

    /// The middle of two neighbours in order: the mean of two ratios, and the more cautious of two
    /// that have no mean.
    fn between(self, later: Self) -> Self {
        match (self, later) {
            (Self::Ratio(a), Self::Ratio(b)) => Self::Ratio((a + b) / 2.0),
            (earlier, _) => earlier,
        }
    }
}

/// What a seed says of a method; `None` if it says nothing: the method was not trained, there is no
/// target, or the method got there and retraining, whose own plateau sets the target, never stayed.
pub fn outcome(rule: Rule, method: &RunRecord, yardstick: &RunRecord) -> Option<Outcome> {
    if rule.is_to_target() {
        method.target?;
        match method.epochs_to_target {
            None => return Some(Outcome::Never),
            Some(0) => return Some(Outcome::AtStart),
            Some(_) => {}
        }
    }
    let (whole, own) = (rule.cost(yardstick)?, rule.cost(method)?);
    (whole > 0.0 && own > 0.0).then_some(Outcome::Ratio(whole / own))
}

/// The speed-up of a method over the seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedUp {
    /// The number of seeds that say something.
    pub n: usize,
    /// The number of seeds that never reached the target.
    pub n_never: usize,
    /// The number of seeds that were there before the first step.
    pub n_at_start: usize,
    /// The median.
    pub median: Outcome,
    /// The slowest seed.
    pub least: Outcome,
    /// The quickest seed.
    pub greatest: Outcome,
}

impl SpeedUp {
    /// The speed-up over these seeds; `None` if there are none.
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
        let count = |what: Outcome| outcomes.iter().filter(|of| **of == what).count();
        Some(Self {
            n,
            n_never: count(Outcome::Never),
            n_at_start: count(Outcome::AtStart),
            least: *outcomes.first()?,
            greatest: *outcomes.last()?,
            median: outcomes[(n - 1) / 2].between(outcomes[n / 2]),
        })
    }
}

/// What these cells, one a seed, say of a method.
pub fn outcomes<'a>(
    rule: Rule,
    method: &str,
    cells: impl IntoIterator<Item = &'a Cell>,
) -> Vec<Outcome> {
    let of_cell = |cell: &Cell| outcome(rule, cell.record(method)?, cell.yardstick()?);
    cells.into_iter().filter_map(of_cell).collect()
}

/// A method's speed-up over these cells, one a seed.
pub fn speed_up<'a>(
    rule: Rule,
    method: &str,
    cells: impl IntoIterator<Item = &'a Cell>,
) -> Option<SpeedUp> {
    SpeedUp::over(outcomes(rule, method, cells))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::record;
    use crate::paper::DataSet;
    use Outcome::{AtStart, Never, Ratio};

    /// Epochs, passes and seconds to the target.
    type Reached = Option<(usize, u64, f64)>;

    fn reaching(method: &str, reached: Reached, lowest: Option<(usize, f64)>) -> RunRecord {
        let mut record = record(method, 0);
        record.target = Some(2.0);
        record.epochs_to_target = reached.map(|(epochs, _, _)| epochs);
        record.passes_to_target = reached.map(|(_, passes, _)| passes);
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
        assert_eq!((all.n, all.n_never, all.n_at_start), (5, 1, 2));
        assert_eq!(
            (all.least, all.median, all.greatest),
            (Never, Ratio(4.0), AtStart)
        );
    }

    #[test]
    fn seeds_are_compared_with_their_own_retraining() {
        let cell = |seed, whole: f64, own: f64| {
            let reached = |seconds: f64| Some((1, 1, seconds));
            Cell {
                data: DataSet::Proteins,
                alpha: 0.5,
                seed,
                records: vec![
                    reaching("retraining", reached(whole), None),
                    reaching("warm", reached(own), None),
                ],
            }
        };
        let cells = [cell(0, 8.0, 2.0), cell(1, 9.0, 1.0), cell(2, 1.0, 4.0)];
        let of = speed_up(Rule::TargetTime, "warm", &cells).unwrap();
        assert_eq!(
            (of.least, of.median, of.greatest),
            (Ratio(0.25), Ratio(4.0), Ratio(9.0))
        );
        assert_eq!(speed_up(Rule::TargetTime, "absent", &cells), None);
    }
}
