//! Quantities of each method over the seeds.

use std::collections::BTreeMap;

use icl_core::ByOrigin;
use icl_train::{REFERENCE, StoppedBy, inert_move};
use serde::Serialize;
use serde_json::Value;

use crate::record::RunRecord;
use crate::summary::over_seeds::Summary;
use crate::summary::protocols::{by_part, by_protocol, recorded};
use crate::summary::speed_up::{Rule, SpeedUp, outcome};
use crate::summary::target::Distances;

/// Numbers of a record that are summarised, by their places in its line.
const QUANTITIES: [&str; 32] = [
    "risk.all",
    "risk.old",
    "risk.new",
    "risk_old_partners.all",
    "risk_old_partners.old",
    "risk_old_partners.new",
    "held_out_risk.all",
    "held_out_risk.old",
    "held_out_risk.new",
    "held_out_risk.standard_error.all",
    "start.nce1_old",
    "nce1_old",
    "nce2_old",
    "end.change_ratio_old",
    "end.bias_inference_old",
    "end.bias_inference_new",
    "end.bias_fine_tuning_new",
    "end.bound",
    "end.theorem1_residual",
    "epochs",
    "sample_passes",
    "charged_passes",
    "train_s",
    "parameter_change",
    "cross_version_recall",
    "seconds.steps_s",
    "seconds.wait_s",
    "seconds.evaluation_s",
    "seconds.views_s",
    "seconds.collation_s",
    "lowest_loss_epoch",
    "lowest_loss_s",
];

/// One method over the seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodSummary {
    /// Name of the method.
    pub method: String,
    /// Whether the method trains at all.
    pub is_trained: bool,
    /// Number of seeds that have a target.
    pub n_with_target: usize,
    /// Number of these that reached it.
    pub n_reached: usize,
    /// Number of these that were at the target before the first step.
    pub n_at_start: usize,
    /// Number of these that reached the target and ended above it all the same.
    pub n_left: usize,
    /// Charged cost to the target over the seeds that have one, in full passes.
    pub charged_to_target: Option<Summary>,
    /// Seconds of training to the target.
    pub time_to_target_s: Option<Summary>,
    /// Epochs to the target.
    pub epochs_to_target: Option<Summary>,
    /// Speed-up over retraining in charged passes to the target; `null` where there is nothing to speed up.
    pub speed_up_in_passes: Option<SpeedUp>,
    /// Speed-up over retraining in seconds to the target.
    pub speed_up_in_time: Option<SpeedUp>,
    /// Distance of the risk of the encoder that is the result from the target, as a share of it: on old or on new data,
    /// where it is more.
    pub above_target: Option<Summary>,
    /// Rules that ended the runs, and the number of seeds of each, in the order of their first seeds.
    pub stopped_by: Vec<(StoppedBy, usize)>,
    /// Mean relative move of the inner loops in the first seed in which they hardly move; `null` without such a seed.
    pub inert_move: Option<f64>,
    /// Numbers of the records over the seeds that have them, by their places in the line, such as `held_out_risk.new`.
    pub quantities: BTreeMap<&'static str, Summary>,
    /// Accuracies by the names of the protocols.
    pub accuracies: BTreeMap<String, ByOrigin<Option<Summary>>>,
}

impl MethodSummary {
    /// Returns a number of the records over the seeds that have it, by its place in the line.
    pub(crate) fn over(&self, quantity: &str) -> Option<Summary> {
        // Names are literals of pages: a mistyped one must not become a dash.
        assert!(QUANTITIES.contains(&quantity), "no quantity {quantity}");
        self.quantities.get(quantity).copied()
    }

    /// Returns the accuracy on all data by a protocol.
    pub(crate) fn accuracy(&self, protocol: &str) -> Option<Summary> {
        self.accuracies.get(protocol)?.all
    }

    /// Returns whether the method is retraining, against which all others are measured.
    pub(crate) fn is_reference(&self) -> bool {
        self.method == REFERENCE
    }

    /// Returns whether the method is retraining, to its end or within a budget.
    pub(crate) fn is_retraining(&self) -> bool {
        self.method.split('@').next() == Some(REFERENCE)
    }
}

/// Summarises each method over its seeds, in the order in which the methods first appear. Where the old encoder
/// is not clearly below the quality of retraining, no method has a speed-up.
pub(crate) fn methods(records: &[RunRecord], distances: Option<&Distances>) -> Vec<MethodSummary> {
    let mut names: Vec<&str> = Vec::new();
    for record in records {
        if !names.contains(&record.method.as_str()) {
            names.push(&record.method);
        }
    }
    let protocols = recorded(records);
    let is_clear = distances.is_none_or(|of| of.is_clear);
    let of = |name: &&str| {
        let own = records.iter().filter(|record| record.method == *name);
        let own: Vec<&RunRecord> = own.collect();
        let speed_up = |rule| {
            let of_seed = |record: &&RunRecord| {
                let is_reference =
                    |other: &&RunRecord| other.method == REFERENCE && other.seed == record.seed;
                outcome(rule, record, records.iter().find(is_reference)?)
            };
            let outcomes = own.iter().filter(|_| is_clear).filter_map(of_seed);
            SpeedUp::over(outcomes)
        };
        let with_target = || own.iter().filter(|record| record.target.is_some());
        let reached = || with_target().filter(|record| record.epochs_to_target.is_some());
        let to_target =
            |cost: fn(&RunRecord) -> Option<f64>| Summary::new(with_target().map(|of| cost(of)));
        let is_above = |record: &&&RunRecord| gap(record).is_some_and(|gap| gap > 0.0);
        let accuracies = protocols.iter().map(|protocol| {
            let of = by_part(|part| {
                let of_seed = |of: &&RunRecord| part(by_protocol(of, protocol)?.accuracy);
                Summary::of_present(own.iter().map(of_seed))
            });
            ((*protocol).to_owned(), of)
        });
        MethodSummary {
            method: (*name).to_owned(),
            is_trained: own.iter().any(|record| record.training.epochs > 0),
            n_with_target: with_target().count(),
            n_reached: reached().count(),
            n_at_start: with_target()
                .filter(|of| of.passes_to_target == Some(0))
                .count(),
            n_left: reached().filter(is_above).count(),
            charged_to_target: to_target(|of| of.charged_to_target),
            time_to_target_s: to_target(|of| of.time_to_target_s),
            epochs_to_target: to_target(|of| of.epochs_to_target.map(|n| n as f64)),
            speed_up_in_passes: speed_up(Rule::TargetPasses),
            speed_up_in_time: speed_up(Rule::TargetTime),
            above_target: Summary::of_present(own.iter().map(|of| gap(of))),
            stopped_by: counted(own.iter().filter_map(|of| of.training.stopped_by)),
            inert_move: own
                .iter()
                .find_map(|of| inert_move(&of.update.support_moves)),
            quantities: quantities(&own),
            accuracies: accuracies.collect(),
        }
    };
    names.iter().map(of).collect()
}

/// Summarises the numbers of records.
fn quantities(records: &[&RunRecord]) -> BTreeMap<&'static str, Summary> {
    // Numbers are found by their keys in the record's JSON, so that one list of names serves the summary, its file and
    // the pages.
    let places = QUANTITIES.map(|quantity| format!("/{}", quantity.replace('.', "/")));
    // One record at a time: a line with its evaluations may be long.
    let values = records.iter().map(|record| {
        let line = serde_json::to_value(record).unwrap_or_default();
        let value = |place: &String| line.pointer(place).and_then(Value::as_f64);
        places.iter().map(value).collect()
    });
    let values: Vec<Vec<Option<f64>>> = values.collect();
    let over = |(at, quantity): (usize, &&'static str)| {
        let values = values.iter().map(|of| of[at]);
        Some((*quantity, Summary::of_present(values)?))
    };
    QUANTITIES.iter().enumerate().filter_map(over).collect()
}

/// Counts how often each rule is there.
fn counted(rules: impl Iterator<Item = StoppedBy>) -> Vec<(StoppedBy, usize)> {
    let mut counts: Vec<(StoppedBy, usize)> = Vec::new();
    for rule in rules {
        match counts.iter_mut().find(|(of, _)| *of == rule) {
            Some((_, n)) => *n += 1,
            None => counts.push((rule, 1)),
        }
    }
    counts
}

/// Returns how far the encoder of a run lies above the target, as a share of it: on old or on new data, where it is
/// more. The risk is that of the evaluation, over the same samples as the target.
fn gap(record: &RunRecord) -> Option<f64> {
    let last = record.course.evaluations.len().checked_sub(1)?;
    let risk = record.course.evaluations[record.course.best_evaluation.unwrap_or(last)].risk;
    let target = record.target_by_origin?;
    Some((risk.old / target.old).max(risk.new / target.new) - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{comparison, few_labels, held_out, reaching, record};
    use crate::text::number::range_of_speed_up;

    fn methods(records: &[RunRecord]) -> Vec<MethodSummary> {
        super::methods(records, Distances::of(records).as_ref())
    }

    fn of<'a>(methods: &'a [MethodSummary], name: &str) -> &'a MethodSummary {
        methods.iter().find(|of| of.method == name).unwrap()
    }

    #[test]
    fn every_quantity_is_in_a_record() {
        let mut one = few_labels(held_out(record("warm", 1), [0.5, 0.7]), 0.8);
        one.risk_old_partners = Some(one.risk);
        one.update.cross_version_recall = Some(0.25);
        one.seconds.wait = 0.125;
        let of = &methods(&[one])[0];
        assert_eq!(of.quantities.len(), QUANTITIES.len());
        let median = |quantity| of.over(quantity).unwrap().median.unwrap();
        assert_eq!(median("held_out_risk.new"), 0.7);
        assert_eq!(median("held_out_risk.standard_error.all"), 0.01);
        assert_eq!(median("sample_passes"), 376.0 * 40.0);
        assert_eq!(median("seconds.wait_s"), 0.125);
        assert_eq!(
            of.accuracy("nearest neighbour from five labels a class")
                .unwrap()
                .median,
            Some(0.8)
        );
    }

    #[test]
    fn methods_keep_their_order_and_seeds_are_counted() {
        let records = comparison();
        let methods = methods(&records);
        let names: Vec<_> = methods.iter().map(|of| of.method.as_str()).collect();
        assert_eq!(&names[..3], ["inference", "retraining", "warm"]);
        assert!(methods.iter().all(|of| of.over("epochs").unwrap().n == 3));
        assert!(super::methods(&[], None).is_empty());
    }

    #[test]
    fn speed_ups_by_hand() {
        let records = [
            reaching("retraining", 1, Some((10, 1000, 4.0)), 2.0),
            reaching("retraining", 2, Some((20, 2000, 8.0)), 2.0),
            reaching("retraining", 3, Some((30, 3000, 9.0)), 2.0),
            reaching("warm", 1, Some((5, 500, 1.0)), 2.2),
            reaching("warm", 2, Some((0, 0, 0.0)), 1.8),
            reaching("warm", 3, None, 2.2),
            reaching("slow", 1, Some((20, 2000, 8.0)), 2.0),
            reaching("slow", 2, Some((20, 4000, 8.0)), 2.0),
        ];
        let methods = methods(&records);
        let warm = of(&methods, "warm");
        assert_eq!(
            (
                warm.n_with_target,
                warm.n_reached,
                warm.n_at_start,
                warm.n_left
            ),
            (3, 2, 1, 1)
        );
        let time = warm.time_to_target_s.unwrap();
        assert_eq!(
            (time.median, time.min, time.max),
            (Some(1.0), Some(0.0), None)
        );
        // One seed each: there at the start, never there, and four times as quick.
        let speed_up = warm.speed_up_in_time.unwrap();
        assert_eq!((speed_up.n, speed_up.median_ratio()), (3, Some(4.0)));
        assert_eq!(range_of_speed_up(&speed_up).unwrap(), "never–at start");
        let of_passes = |name| of(&methods, name).speed_up_in_passes?.median_ratio();
        assert_eq!(of_passes("warm"), Some(2.0));
        assert_eq!(of_passes("slow"), Some(0.5));
        assert_eq!(of_passes("retraining"), Some(1.0));
        assert!((warm.above_target.unwrap().median.unwrap() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn without_retraining_nothing_is_never() {
        let mut alone = record("warm", 1);
        alone.target = None;
        let records = [alone];
        let methods = methods(&records);
        assert_eq!(methods[0].n_with_target, 0);
        assert_eq!(methods[0].charged_to_target, None);
        assert_eq!(methods[0].above_target, None);
        assert_eq!(methods[0].speed_up_in_passes, None);
    }
}
