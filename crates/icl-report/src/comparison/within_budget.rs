//! Answer of a comparison within a budget, in two sentences.

use icl_train::{Answer, DEFAULT, PairedDifference, REFERENCE};

use crate::record::RunRecord;
use crate::text::number::percent;

/// Name of retraining within the budget of the updates.
pub const SHORT_RETRAINING: &str = "short-retraining";

/// Probability with which an interval over the seeds holds the true mean.
const LEVEL: f64 = 0.95;
/// Name of keeping the old encoder.
const KEPT: &str = "inference";
/// Name of training on new data alone.
const FINE_TUNING: &str = "fine-tuning";

/// Ways to treat new data besides updating, each with its description.
const OTHERS: [(&str, &str); 3] = [
    (KEPT, "keeping the old encoder ends"),
    (FINE_TUNING, "fine-tuning ends"),
    (SHORT_RETRAINING, "retraining at the same cost ends"),
];

/// Says in two sentences how far above retraining updating ends on held-out data, and at which share of its cost, and
/// in a third one where the other ways end.
///
/// Each number is a mean over the seeds of the excess as a share of retraining's risk, the larger one of old and of new
/// data. Returns `None` where nothing was held out, or retraining was not run within a budget as well.
pub(crate) fn within_budget(records: &[RunRecord]) -> Option<[String; 2]> {
    held_out(records, SHORT_RETRAINING)?;
    let larger = larger_excess(records, DEFAULT)?;
    let place = match larger.mean {
        mean if mean > 0.0 => format!("within {} of retraining", percent(mean)),
        mean => format!("{} or more below retraining", percent(-mean)),
    };
    let others = OTHERS.iter().filter_map(|(name, words)| {
        let mean = larger_excess(records, name)?.mean;
        let side = if mean < 0.0 { "below" } else { "above" };
        Some(format!("{words} {} {side} it", percent(mean.abs())))
    });
    let others: Vec<String> = others.collect();
    let half = (larger.interval[1] - larger.interval[0]) / 2.0;
    let answer = format!(
        "Updating ({DEFAULT}) ends {place} (± {}) on held-out data, at {} of its cost.{}",
        percent(half),
        percent(share_of_cost(records)?),
        of_fine_tuning(records).unwrap_or_default()
    );
    let others = format!("On average over the seeds, {}.", others.join(", "));
    Some([answer, others])
}

/// Returns the held-out risks of a method on old and on new data, one of each seed; `None` where a seed has none.
fn held_out(records: &[RunRecord], method: &str) -> Option<[Vec<f64>; 2]> {
    let runs = || records.iter().filter(|record| record.method == method);
    let risks = runs().map(|run| Some(run.update.held_out_risk?.mean));
    let risks: Vec<_> = risks.collect::<Option<_>>()?;
    let [old, new]: [Vec<f64>; 2] = [
        risks.iter().map(|risk| risk.old).collect(),
        risks.iter().map(|risk| risk.new).collect(),
    ];
    (!old.is_empty()).then_some([old, new])
}

/// Returns the excess of a method over retraining as a share of its risk, on old or on new data, whichever is larger.
fn larger_excess(records: &[RunRecord], method: &str) -> Option<PairedDifference> {
    let (of_method, reference) = (held_out(records, method)?, held_out(records, REFERENCE)?);
    let excesses = of_method.iter().zip(&reference).map(|(found, reference)| {
        let shares = found.iter().zip(reference).map(|(it, of)| it / of);
        let shares: Vec<f64> = shares.collect();
        PairedDifference::of(&vec![1.0; reference.len()], &shares, LEVEL).ok()
    });
    let excesses: Vec<PairedDifference> = excesses.collect::<Option<_>>()?;
    excesses
        .into_iter()
        .max_by(|one, other| one.mean.total_cmp(&other.mean))
}

/// Returns the cost of updating as a share of that of retraining, over all seeds.
fn share_of_cost(records: &[RunRecord]) -> Option<f64> {
    let cost = |method: &str| -> f64 {
        let runs = records.iter().filter(|record| record.method == method);
        runs.map(|run| run.training.charged_passes).sum()
    };
    let share = cost(DEFAULT) / cost(REFERENCE);
    share.is_finite().then_some(share)
}

/// Says on which data fine-tuning is worse than to keep the old encoder.
fn of_fine_tuning(records: &[RunRecord]) -> Option<&'static str> {
    let (kept, tuned) = (held_out(records, KEPT)?, held_out(records, FINE_TUNING)?);
    let is_worse = |at: usize| {
        let difference = PairedDifference::of(&kept[at], &tuned[at], LEVEL);
        difference.is_ok_and(|it| it.answer == Answer::Worse)
    };
    match (is_worse(0), is_worse(1)) {
        (_, true) => Some(" Fine-tuning made even the new data worse."),
        (true, false) => Some(" Fine-tuning made the old data worse."),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{held_out as with_held_out, record};

    fn runs(tuned_new: f64) -> Vec<RunRecord> {
        let of = |method: &str, [old, new]: [f64; 2], passes| {
            [1, 2, 3].map(|seed| {
                // Seeds differ by more than methods, but all methods of a seed alike.
                let scale = 1.0 + 0.2 * seed as f64;
                let risk = [scale * old, scale * new * (1.0 + 0.001 * seed as f64)];
                let mut record = with_held_out(record(method, seed), risk);
                record.training.charged_passes = passes;
                record
            })
        };
        [
            of(REFERENCE, [0.5, 0.6], 1000.0),
            of(DEFAULT, [0.505, 0.612], 100.0),
            of(KEPT, [0.51, 0.9], 0.0),
            of(FINE_TUNING, [0.75, tuned_new], 100.0),
            of(SHORT_RETRAINING, [1.0, 0.9], 100.0),
        ]
        .concat()
    }

    #[test]
    fn the_larger_excess_of_each_way_is_given_with_its_share_of_the_cost() {
        let text = within_budget(&runs(0.95)).unwrap();
        assert_eq!(
            text,
            [
                "Updating (icl) ends within 2.0 % of retraining (± 0.0 %) on held-out data, at 10.0 % of its cost. \
                 Fine-tuning made even the new data worse.",
                "On average over the seeds, keeping the old encoder ends 50.0 % above it, fine-tuning ends 58.3 % above \
                 it, retraining at the same cost ends 100.0 % above it."
            ]
        );
        let [text, _] = within_budget(&runs(0.8)).unwrap();
        assert!(
            text.ends_with(". Fine-tuning made the old data worse."),
            "{text}"
        );
    }

    #[test]
    fn without_a_budget_or_held_out_data_there_is_none() {
        for missing in [REFERENCE, DEFAULT, SHORT_RETRAINING] {
            let mut records = runs(0.8);
            records.retain(|record| record.method != missing);
            assert_eq!(within_budget(&records), None);
        }
        let mut records = runs(0.8);
        records[0].update.held_out_risk = None;
        assert_eq!(within_budget(&records), None);
    }
}
