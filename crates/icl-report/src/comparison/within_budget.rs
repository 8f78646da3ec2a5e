//! Answer of a comparison within a budget, in two sentences.

use icl_train::{Answer, DEFAULT, PairedDifference, REFERENCE};

use crate::record::RunRecord;
use crate::summary::CONFIDENCE;
use crate::summary::budgets::{Excess, excess, held_out_pairs, share_of_cost};
use crate::text::number::percent;

/// Name of keeping the old encoder.
const KEPT: &str = "inference";
/// Name of training on new data alone.
const FINE_TUNING: &str = "fine-tuning";

/// Says in two sentences how far above retraining updating ends on held-out data, and at which share of its cost, and
/// in a third one where the other ways end.
///
/// Each number is a mean over the seeds of the excess as a share of retraining's risk, the larger one of old and of new
/// data. Returns `None` where nothing was held out, or retraining was not run within a budget as well.
pub(crate) fn within_budget(records: &[RunRecord]) -> Option<[String; 2]> {
    let mut runs = records.iter();
    let short = runs.find(|of| of.plain_method() == REFERENCE && of.budget.is_some())?;
    let larger = larger_excess(records, DEFAULT)?;
    let place = match larger.mean {
        mean if mean > 0.0 => format!("within {} of retraining", percent(mean)),
        mean => format!("{} or more below retraining", percent(-mean)),
    };
    let others = [
        (KEPT, "keeping the old encoder ends"),
        (FINE_TUNING, "fine-tuning ends"),
        (&short.method, "retraining at the same cost ends"),
    ];
    let others = others.iter().filter_map(|(name, words)| {
        let mean = larger_excess(records, name)?.mean;
        let side = if mean < 0.0 { "below" } else { "above" };
        Some(format!("{words} {} {side} it", percent(mean.abs())))
    });
    let others: Vec<String> = others.collect();
    let [low, high] = larger.interval?;
    let answer = format!(
        "Updating ({DEFAULT}) ends {place} (± {}) on held-out data, at {} of its cost.{}",
        percent((high - low) / 2.0),
        percent(share_of_cost(records, DEFAULT)?),
        of_fine_tuning(records).unwrap_or_default()
    );
    let others = format!("On average over the seeds, {}.", others.join(", "));
    Some([answer, others])
}

/// Returns the excess of a method over retraining as a share of its risk, on old or on new data, whichever is larger.
fn larger_excess(records: &[RunRecord], method: &str) -> Option<Excess> {
    let excesses = excess(records, method)?;
    excesses
        .into_iter()
        .max_by(|one, other| one.mean.total_cmp(&other.mean))
}

/// Says on which data fine-tuning is worse than to keep the old encoder.
fn of_fine_tuning(records: &[RunRecord]) -> Option<&'static str> {
    let pairs = held_out_pairs(records, [KEPT, FINE_TUNING])?;
    let is_worse = |at: usize| {
        let (kept, tuned): (Vec<f64>, Vec<f64>) = pairs.iter().map(|[a, b]| (a[at], b[at])).unzip();
        let difference = PairedDifference::of(&kept, &tuned, CONFIDENCE);
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

    const SHORT: &str = "retraining@10%";

    fn runs(tuned_new: f64) -> Vec<RunRecord> {
        let of = |method: &str, [old, new]: [f64; 2], passes| {
            [1, 2, 3].map(|seed| {
                // Seeds differ by more than methods, but all methods of a seed alike.
                let scale = 1.0 + 0.2 * seed as f64;
                let risk = [scale * old, scale * new * (1.0 + 0.001 * seed as f64)];
                let mut record = with_held_out(record(method, seed), risk);
                record.training.charged_passes = passes;
                record.budget = (method == SHORT).then(|| "10%".to_owned());
                record
            })
        };
        [
            of(REFERENCE, [0.5, 0.6], 1000.0),
            of(DEFAULT, [0.505, 0.612], 100.0),
            of(KEPT, [0.51, 0.9], 0.0),
            of(FINE_TUNING, [0.75, tuned_new], 100.0),
            of(SHORT, [1.0, 0.9], 100.0),
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
        for missing in [REFERENCE, DEFAULT, SHORT] {
            let mut records = runs(0.8);
            records.retain(|record| record.method != missing);
            assert_eq!(within_budget(&records), None);
        }
        let mut records = runs(0.8);
        records[0].update.held_out_risk = None;
        assert_eq!(within_budget(&records), None);
    }
}
