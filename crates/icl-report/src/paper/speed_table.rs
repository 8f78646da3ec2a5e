//! Speed-ups in a table: how they are written, and whether they agree with the paper's.

use crate::Summary;
use crate::document::blocks::{Entry, Row, Table};
use crate::number::{MISSING, NEVER, count};
use crate::paper::group::Group;
use crate::paper::{Outcome, Rule, SpeedUp, outcomes, paper_speed_up, speed_up};

/// What stands where θ₀ was at the target before the first step.
const AT_START: &str = "at start";
/// A factor this close to 1 is no difference.
const SAME: f64 = 1.05;

/// On which side of 1 a speed-up lies.
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
    /// That of a factor.
    pub(crate) fn of_ratio(ratio: f64) -> Self {
        match ratio {
            ratio if ratio > SAME => Self::Faster,
            ratio if ratio < 1.0 / SAME => Self::Slower,
            _ => Self::Same,
        }
    }

    /// That of what a seed says.
    pub(crate) fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Never => Self::Slower,
            Outcome::Ratio(ratio) => Self::of_ratio(ratio),
            Outcome::AtStart => Self::Nothing,
        }
    }
}

/// Whether a speed-up of ours goes the paper's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// All seeds do.
    Yes,
    /// The median does, but not all seeds.
    YesWithin,
    /// The median does not, but a seed does.
    NoWithin,
    /// No seed does.
    No,
    /// In the median there was nothing to speed up.
    Nothing,
}

impl Agreement {
    /// Of the seeds with the paper's factor; `None` without seeds.
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

/// A speed-up as the paper writes it; below 0.95 with one digit more.
pub(crate) fn factor(ratio: f64) -> String {
    if ratio < 0.95 {
        format!("{ratio:.2}×")
    } else {
        format!("{ratio:.1}×")
    }
}

fn word(outcome: Outcome) -> String {
    match outcome {
        Outcome::Never => NEVER.to_owned(),
        Outcome::Ratio(ratio) => factor(ratio),
        Outcome::AtStart => AT_START.to_owned(),
    }
}

/// The median with `[slowest–quickest]` where the seeds differ.
pub(crate) fn entry(speed_up: Option<&SpeedUp>) -> Entry {
    let Some(of) = speed_up else {
        return MISSING.to_owned().into();
    };
    let (least, greatest) = (word(of.least), word(of.greatest));
    Entry {
        main: word(of.median),
        small: (least != greatest).then(|| format!("[{least}–{greatest}]")),
    }
}

/// The same in a sentence.
pub(crate) fn in_words(speed_up: Option<&SpeedUp>) -> String {
    let Entry { main, small } = entry(speed_up);
    match small {
        Some(small) => format!("{main} {small}"),
        None => main,
    }
}

/// The table of one data set and growth ratio: the paper's numbers, ours by both rules, and whether
/// they agree.
pub(crate) fn table(group: &Group<'_>, source: &str) -> Table {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Table {
        corner: "method".into(),
        groups: vec![
            (source.to_owned(), names(&["time", "epoch"])),
            ("ours, the paper's rule".into(), names(&["time", "epoch"])),
            ("ours, time to target".into(), names(&["seconds", "passes"])),
            (
                "as the paper in time?".into(),
                names(&["by its rule", "to target"]),
            ),
            ("runs".into(), names(&["seeds", "epochs"])),
        ],
        rows: group
            .methods()
            .into_iter()
            .map(|method| row(group, method))
            .collect(),
    }
}

fn row(group: &Group<'_>, method: &str) -> Row {
    let paper = paper_speed_up(group.data, group.alpha, method);
    let of = |rule| speed_up(rule, method, group.cells.iter().copied());
    let [lowest_s, lowest, target_s, passes] = [
        Rule::LowestLossTime,
        Rule::LowestLossEpoch,
        Rule::TargetTime,
        Rule::TargetPasses,
    ]
    .map(of);
    let paper_entry = |of: Option<f64>| Entry::from(of.map_or(MISSING.to_owned(), factor));
    let agreement = |rule| {
        let seeds = outcomes(rule, method, group.cells.iter().copied());
        let paper = paper.filter(|_| method != icl_train::REFERENCE);
        let text = paper.and_then(|paper| Agreement::new(paper.time, &seeds));
        Entry::from(text.map_or(MISSING, Agreement::text).to_owned())
    };
    let records = group.cells.iter().filter_map(|cell| cell.record(method));
    let epochs = Summary::new(records.clone().map(|record| Some(record.epochs as f64)));
    let epochs = epochs.and_then(|epochs| epochs.median);
    Row {
        head: method.to_owned(),
        entries: vec![
            paper_entry(paper.map(|paper| paper.time)),
            paper_entry(paper.map(|paper| paper.epoch)),
            entry(lowest_s.as_ref()),
            entry(lowest.as_ref()),
            entry(target_s.as_ref()),
            entry(passes.as_ref()),
            agreement(Rule::LowestLossTime),
            agreement(Rule::TargetTime),
            Entry::from(records.count().to_string()),
            Entry::from(epochs.map_or(MISSING.to_owned(), count)),
        ],
        is_floor: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::{AtStart, Never, Ratio};

    fn of(outcomes: &[Outcome]) -> SpeedUp {
        SpeedUp::over(outcomes.iter().copied()).unwrap()
    }

    #[test]
    fn words_stand_where_there_is_no_number() {
        assert_eq!(in_words(None), "–");
        assert_eq!(in_words(Some(&of(&[Ratio(10.06)]))), "10.1×");
        assert_eq!(in_words(Some(&of(&[Ratio(0.123)]))), "0.12×");
        assert_eq!(
            in_words(Some(&of(&[Never, Ratio(2.0), AtStart]))),
            "2.0× [never–at start]"
        );
        assert_eq!(in_words(Some(&of(&[Never, Never]))), "never");
    }

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
