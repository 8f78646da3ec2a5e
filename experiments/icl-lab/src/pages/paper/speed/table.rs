//! Table of speed-ups, with their agreement with the paper's.

use icl_report::document::{Column, Row, Table, TableCell};
use icl_report::summary::{Outcome, Rule, SpeedUp, Summary};
use icl_report::text::number::{AT_START, count, factor};
use icl_train::REFERENCE;

use crate::pages::paper::group::Group;
use crate::pages::paper::numbers::paper_speed_up;

/// Warning against the paper's rule.
pub(crate) const WARNING: &str = "The paper's rule, the epoch of the lowest training loss, follows the noise of the batches: two runs \
     of a frozen network that differ in nothing but their random views come out 6 times apart in one \
     case of ten. Its columns are here so that the paper's claim can be tested as it was made. Read \
     speed from the time to target.";

/// Explanation of a speed-up in a table.
pub(crate) const HOW_TO_READ: &str = "A speed-up is retraining's cost divided by the method's in the same seed: above 1 is quicker. Numbers \
     are medians over the seeds with [slowest–quickest]. “Never”: the target was not reached. “At start”: \
     θ₀ was at the target before the first step, so there was nothing to speed up. A dash: nothing to \
     compare.";

/// Largest factor that counts as no difference.
const SAME: f64 = 1.05;

/// Side of 1 on which a speed-up lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Later than retraining, or never.
    Slower,
    /// Within 5 % of retraining.
    Same,
    /// Sooner.
    Faster,
    /// There was nothing to speed up.
    Nothing,
}

impl Direction {
    /// Returns the side of a factor.
    pub(crate) fn of_ratio(ratio: f64) -> Self {
        match ratio {
            ratio if ratio > SAME => Self::Faster,
            ratio if ratio < 1.0 / SAME => Self::Slower,
            _ => Self::Same,
        }
    }

    /// Returns the side of the speed-up in one seed.
    pub(crate) fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Never => Self::Slower,
            Outcome::Ratio(ratio) => Self::of_ratio(ratio),
            Outcome::AtStart => Self::Nothing,
        }
    }
}

/// Agreement of a speed-up of ours with the paper's in its direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// All seeds agree.
    Yes,
    /// The median agrees, but not all seeds.
    YesWithin,
    /// The median does not agree, but a seed does.
    NoWithin,
    /// No seed agrees.
    No,
    /// There was nothing to speed up in the median.
    Nothing,
}

impl Agreement {
    /// Compares the seeds with the paper's factor; `None` without seeds.
    pub(crate) fn new(paper: f64, seeds: &[Outcome]) -> Option<Self> {
        let median = Direction::of(SpeedUp::over(seeds.iter().copied())?.median);
        let paper = Direction::of_ratio(paper);
        let n = seeds.iter().filter(|of| Direction::of(**of) == paper);
        Some(match (n.count(), median) {
            (_, Direction::Nothing) => Self::Nothing,
            (n, median) if median == paper && n == seeds.len() => Self::Yes,
            (_, median) if median == paper => Self::YesWithin,
            (0, _) => Self::No,
            _ => Self::NoWithin,
        })
    }

    fn text(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::YesWithin => "yes, but not every seed",
            Self::NoWithin => "no, but some seeds",
            Self::No => "no",
            Self::Nothing => AT_START,
        }
    }
}

/// Makes the table of one data set and growth ratio: the paper's numbers, ours by both rules, and
/// their agreement.
pub(crate) fn table(group: &Group<'_>, source: &str) -> Table {
    let mut columns = Column::group(source, &["time", "epoch"]);
    columns.extend(Column::group("ours, the paper's rule", &["time", "epoch"]));
    columns.extend(Column::group(
        "ours, time to target",
        &["seconds", "passes"],
    ));
    columns.extend(Column::group(
        "as the paper in time?",
        &["by its rule", "to target"],
    ));
    columns.extend(Column::group("runs", &["seeds", "epochs"]));
    let methods = group.methods().into_iter();
    Table {
        corner: "method".into(),
        columns,
        rows: methods.map(|method| row(group, method)).collect(),
    }
}

fn row(group: &Group<'_>, method: &str) -> Row {
    let paper = paper_speed_up(group.data, group.alpha, method);
    let of = |rule| TableCell::of_speed_up(group.speed_up(rule, method));
    let of_paper = |of: Option<f64>| TableCell::number(of.unwrap_or(f64::NAN), factor);
    let agreement = |rule| {
        let seeds = group.outcomes(rule, method);
        let paper = paper.filter(|_| method != REFERENCE);
        let agreement = paper.and_then(|paper| Agreement::new(paper.time, &seeds));
        agreement.map_or(TableCell::Missing, |of| {
            TableCell::Word(of.text().to_owned())
        })
    };
    let records = group.cells.iter().filter_map(|cell| cell.record(method));
    let epochs = Summary::new(
        records
            .clone()
            .map(|record| Some(record.training.epochs as f64)),
    );
    let epochs = epochs.and_then(|epochs| epochs.median);
    let cells = vec![
        of_paper(paper.map(|paper| paper.time)),
        of_paper(paper.map(|paper| paper.epoch)),
        of(Rule::LowestLossTime),
        of(Rule::LowestLossEpoch),
        of(Rule::TargetTime),
        of(Rule::TargetPasses),
        agreement(Rule::LowestLossTime),
        agreement(Rule::TargetTime),
        TableCell::Value(records.count().to_string(), None),
        TableCell::number(epochs.unwrap_or(f64::NAN), count),
    ];
    Row::new(method, cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::{AtStart, Never, Ratio};

    #[test]
    fn agreement_says_whether_the_spread_swallows_it() {
        let with = |outcomes: &[Outcome]| Agreement::new(10.1, outcomes);
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[Ratio(2.0), Ratio(1.2)]), Some(Agreement::Yes));
        assert_eq!(
            with(&[Ratio(2.0), Ratio(1.2), Ratio(0.5)]),
            Some(Agreement::YesWithin)
        );
        assert_eq!(
            with(&[Ratio(0.8), Ratio(1.2), Ratio(0.5)]),
            Some(Agreement::NoWithin)
        );
        assert_eq!(with(&[Never, Ratio(1.0)]), Some(Agreement::No));
        assert_eq!(with(&[AtStart, AtStart, Never]), Some(Agreement::Nothing));
        // The paper says "no quicker", and so do we.
        assert_eq!(
            Agreement::new(1.0, &[Ratio(1.04), Ratio(0.97)]),
            Some(Agreement::Yes)
        );
    }
}
