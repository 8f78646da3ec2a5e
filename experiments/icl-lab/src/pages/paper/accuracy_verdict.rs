//! Accuracy in words: against retraining, the floors and the spread over the seeds.

use icl_report::protocols::{self, by_protocol};
use icl_report::summary::Summary;
use icl_report::text::number::{MISSING, accuracy, with_sign};
use icl_report::{AccuracyByOrigin, FloorAccuracies, ProtocolAccuracies, RunRecord};

use crate::pages::paper::group::Group;
use crate::pages::paper::numbers::{PAPER_METHODS, span};

/// Protocol of the paper in the records.
pub(crate) const PROTOCOL: &str = "support vector machine";

/// Method that the paper compares with the others.
const PUBLISHED: &str = "icl-published";

/// Part of the data: old or new.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    /// Old data, X.
    Old,
    /// New data, ΔX.
    New,
}

impl Part {
    /// Returns the function that selects this part.
    pub(crate) fn selector(self) -> protocols::Part {
        match self {
            Self::Old => |parts| parts.old,
            Self::New => |parts| parts.new,
        }
    }

    /// Returns the accuracy on this part.
    pub(crate) fn of(self, parts: AccuracyByOrigin) -> Option<f64> {
        self.selector()(parts)
    }

    /// Returns the name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Old => "old data",
            Self::New => "new data",
        }
    }
}

/// Returns the accuracies and floors of a record by the paper's protocol; all missing without it.
pub(crate) fn measured(record: &RunRecord) -> ProtocolAccuracies {
    by_protocol(record, PROTOCOL).unwrap_or_default()
}

/// Returns a method's accuracies, one per seed.
pub(crate) fn values(group: &Group<'_>, part: Part, method: &str) -> Vec<f64> {
    let records = group.cells.iter().filter_map(|cell| cell.record(method));
    records
        .filter_map(|record| part.of(measured(record).accuracy))
        .collect()
}

/// Summarises a method's accuracy minus another's in the same seed.
pub(crate) fn difference(
    group: &Group<'_>,
    part: Part,
    method: &str,
    other: &str,
) -> Option<Summary> {
    Summary::of_present(group.cells.iter().map(|cell| {
        let of = |method| part.of(measured(cell.record(method)?).accuracy);
        Some(of(method)? - of(other)?)
    }))
}

/// Returns the differences of the published ICL from the paper's other methods, medians over the
/// seeds.
fn differences(groups: &[Group<'_>], part: Part) -> Vec<f64> {
    let others = || {
        PAPER_METHODS
            .iter()
            .filter(|(name, _)| !name.starts_with("ICL"))
    };
    let of_group = |group| {
        others().filter_map(move |(_, other)| difference(group, part, PUBLISHED, other)?.median)
    };
    groups.iter().flat_map(of_group).collect()
}

/// Counts the differences in the paper's range.
fn n_within(differences: &[f64]) -> usize {
    let range = span("accuracy difference");
    let is_within = |x: &&f64| (range.low..=range.high).contains(*x);
    differences.iter().filter(is_within).count()
}

/// Says how many differences lie in the paper's range.
pub(crate) fn headline(groups: &[Group<'_>], part: Part) -> String {
    let differences = differences(groups, part);
    match differences.len() {
        0 => "The published ICL was not run, so its accuracy cannot be compared.".to_owned(),
        n => format!(
            "{} of {n} differences in accuracy on {} between {PUBLISHED} and the paper's other methods lie \
             in the paper's range.",
            n_within(&differences),
            part.name()
        ),
    }
}

/// Compares the published ICL with the paper's other methods, as the paper's text does.
pub(crate) fn overall(groups: &[Group<'_>], part: Part) -> String {
    let differences = differences(groups, part);
    let Some(of) = Summary::of_present(differences.iter().copied().map(Some)) else {
        return "Ours: the published ICL was not run, so there is nothing to compare with that."
            .to_owned();
    };
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    let signed = |value| with_sign(value, accuracy);
    let show = |value: Option<f64>| value.map_or(MISSING.to_owned(), signed);
    format!(
        "Ours: {PUBLISHED} minus retraining, fine-tuning, replay and distillation, medians over the seeds: \
         from {} to {}, {} of {} in the paper's range; on average {}.",
        show(of.min),
        show(of.max),
        n_within(&differences),
        differences.len(),
        signed(mean)
    )
}

fn highest_floor(floors: &FloorAccuracies, part: Part) -> Option<f64> {
    let all = [floors.majority, floors.size, floors.raw, floors.untrained];
    all.into_iter()
        .filter_map(|floor| part.of(floor))
        .max_by(f64::total_cmp)
}

/// Says whether the accuracies tell the methods from each other, and from the floors.
pub(crate) fn verdict(group: &Group<'_>, part: Part) -> String {
    let trained: Vec<&str> = group
        .methods()
        .into_iter()
        .filter(|method| *method != "inference")
        .collect();
    let mut medians: Vec<(&str, f64)> = trained
        .iter()
        .filter_map(|method| {
            let values = values(group, part, method).into_iter().map(Some);
            Some((*method, Summary::of_present(values)?.median?))
        })
        .collect();
    medians.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (Some((worst, low)), Some((best, high))) = (medians.first(), medians.last()) else {
        return "No accuracy could be measured.".to_owned();
    };
    let distance = match seed_spread(group, part, &trained) {
        Some(spread) if spread >= high - low => format!(
            "no further apart than the seeds of one method (up to {}), so accuracy does not tell the \
             methods apart",
            accuracy(spread)
        ),
        Some(spread) => format!(
            "further apart than the seeds of one method (up to {})",
            accuracy(spread)
        ),
        None => "from one seed, which says nothing about the spread".to_owned(),
    };
    format!(
        "Medians from {} ({worst}) to {} ({best}): {distance}. {}",
        accuracy(*low),
        accuracy(*high),
        above_floors(group, part, &trained)
    )
}

/// Names the methods that lie above the highest floor in every seed.
fn above_floors(group: &Group<'_>, part: Part, methods: &[&str]) -> String {
    let is_above = |method: &&&str| {
        group.cells.iter().all(|cell| {
            cell.record(method).is_some_and(|record| {
                let measured = measured(record);
                let (own, floor) = (
                    part.of(measured.accuracy),
                    highest_floor(&measured.floors, part),
                );
                own.zip(floor).is_some_and(|(own, floor)| own > floor)
            })
        })
    };
    let above: Vec<&str> = methods.iter().filter(is_above).copied().collect();
    match above.len() {
        0 => "No method lies above the highest floor in every seed: training shows no use here."
            .to_owned(),
        n if n == methods.len() => {
            "Every method lies above the highest floor in every seed.".to_owned()
        }
        n => format!(
            "{n} of {} methods lie above the highest floor in every seed ({}).",
            methods.len(),
            above.join(", ")
        ),
    }
}

/// Returns the greatest distance between two seeds of one method; `None` with one seed.
fn seed_spread(group: &Group<'_>, part: Part, methods: &[&str]) -> Option<f64> {
    methods
        .iter()
        .filter_map(|method| {
            let values = values(group, part, method);
            let of = Summary::of_present(values.iter().copied().map(Some))?;
            (of.n > 1).then_some(of.max? - of.min?)
        })
        .max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::paper::data_set::DataSet;
    use crate::pages::paper::group::Cell;
    use icl_report::testing::record;

    fn cell(seed: u64, accuracies: &[(&str, f64)]) -> Cell {
        let records = accuracies.iter().map(|(method, old)| {
            let mut record = record(method, seed);
            let measured = record.added_protocols.get_mut(PROTOCOL).unwrap();
            measured.accuracy.old = Some(*old);
            measured.floors.majority.old = Some(0.6);
            measured.floors.size.old = Some(0.7);
            measured.floors.raw.old = None;
            measured.floors.untrained.old = Some(0.65);
            record
        });
        Cell {
            data: DataSet::Proteins,
            alpha: 0.5,
            seed,
            records: records.collect(),
        }
    }

    fn of(cells: &[Cell]) -> Group<'_> {
        Group {
            data: DataSet::Proteins,
            alpha: 0.5,
            cells: cells.iter().collect(),
        }
    }

    #[test]
    fn a_spread_as_large_as_the_differences_is_said() {
        let near = [
            cell(0, &[("retraining", 0.71), ("icl-published", 0.73)]),
            cell(1, &[("retraining", 0.74), ("icl-published", 0.69)]),
        ];
        let text = verdict(&of(&near), Part::Old);
        assert!(text.contains("does not tell the methods apart"), "{text}");
        assert!(text.contains("Medians from 0.710 (icl-published) to 0.725 (retraining)"));
        assert!(
            text.contains("1 of 2 methods lie above the highest floor in every seed (retraining)")
        );
        let far = [
            cell(0, &[("retraining", 0.71), ("icl-published", 0.90)]),
            cell(1, &[("retraining", 0.72), ("icl-published", 0.91)]),
        ];
        let text = verdict(&of(&far), Part::Old);
        assert!(text.contains(": further apart than"), "{text}");
        assert!(text.contains("Every method lies above"));
    }

    #[test]
    fn the_published_method_against_the_paper() {
        let cells = [cell(
            0,
            &[
                ("retraining", 0.71),
                ("fine-tuning", 0.75),
                ("icl-published", 0.72),
            ],
        )];
        let text = overall(&[of(&cells)], Part::Old);
        assert!(
            text.contains("from −0.030 to +0.010, 1 of 2 in the paper's range"),
            "{text}"
        );
        assert!(overall(&[of(&[])], Part::Old).contains("was not run"));
        assert!(headline(&[of(&cells)], Part::Old).starts_with("1 of 2 differences"));
        assert!(headline(&[], Part::New).contains("was not run"));
    }
}
