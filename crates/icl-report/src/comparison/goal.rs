//! The target of a comparison in words.

use icl_core::ByOrigin;
use icl_train::{REFERENCE, StoppedBy};

use crate::comparison::guide::{NO_TARGET, TARGET};
use crate::comparison::runs::target;
use crate::record::RunRecord;
use crate::summary::Summary;
use crate::text::number::{MISSING, nats};

/// Writes the target with its definition, and a warning where retraining's budget and not its rule ended it.
pub(crate) fn goal(records: &[RunRecord]) -> String {
    match target(records) {
        None => NO_TARGET.to_owned(),
        Some(target) => {
            let [old, new] =
                parts_of_target(records).unwrap_or_else(|| [(); 2].map(|()| MISSING.to_owned()));
            let seeds = match target.n {
                1 => String::new(),
                n => format!(" (medians over {n} seeds, each of which has its own)"),
            };
            let is_truncated = |record: &&RunRecord| {
                record.method == REFERENCE && record.training.stopped_by == Some(StoppedBy::Epochs)
            };
            let truncated = match records.iter().any(|record| is_truncated(&record)) {
                true => {
                    " Retraining ended at its last epoch and not by its own rule: with more epochs it would be better, and \
                     its plateau is only what these epochs give."
                }
                false => "",
            };
            format!(
                "Target: {TARGET}: {old} nats on old and {new} on new data{seeds}.{truncated} Medians over the seeds, \
                 [least–greatest] where seeds differ."
            )
        }
    }
}

/// Writes the medians of the target on old and on new data; `None` without retraining.
fn parts_of_target(records: &[RunRecord]) -> Option<[String; 2]> {
    let of_seeds = || {
        let references = records.iter().filter(|record| record.method == REFERENCE);
        references.map(|record| record.target_by_origin)
    };
    let median = |part: fn(ByOrigin<f64>) -> f64| {
        let summary = Summary::of_present(of_seeds().map(|target| target.map(part)))?;
        summary.median.map(nats)
    };
    Some([median(|of| of.old)?, median(|of| of.new)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::comparison;

    #[test]
    fn a_target_has_both_parts_and_tells_of_a_budget() {
        let mut records = comparison();
        assert!(goal(&records).contains("– nats on old and – on new data"));
        for record in &mut records {
            record.target_by_origin = Some(ByOrigin {
                all: 2.0,
                old: 1.5,
                new: 2.5,
            });
            record.training.stopped_by = Some(StoppedBy::Doubling);
        }
        let words = goal(&records);
        assert!(
            words.contains("1.500 nats on old and 2.500 on new data"),
            "{words}"
        );
        assert!(!words.contains("last epoch"));
        records[0].training.stopped_by = Some(StoppedBy::Epochs);
        let is_reference = records[0].method == REFERENCE;
        assert_eq!(goal(&records).contains("last epoch"), is_reference);
        for record in &mut records {
            record.training.stopped_by = Some(StoppedBy::Epochs);
        }
        assert!(goal(&records).contains("Retraining ended at its last epoch"));
        assert_eq!(goal(&[]), NO_TARGET);
    }
}
