//! The target of a comparison, and the distance of the old encoder from it, in words.

use crate::comparison::guide::{NO_TARGET, TARGET};
use crate::summary::{Distance, Distances, TargetSummary};
use crate::text::number::{MISSING, nats, percent, rounded};

/// Writes the target with its definition, and a warning where retraining's budget and not its rule ended it.
pub(crate) fn goal(target: Option<&TargetSummary>) -> String {
    let Some(target) = target else {
        return NO_TARGET.to_owned();
    };
    let [old, new] = [target.old, target.new].map(|of| of?.median.map(nats));
    let missing = || MISSING.to_owned();
    let (old, new) = old.zip(new).unwrap_or_else(|| (missing(), missing()));
    let seeds = match target.all.n {
        1 => String::new(),
        n => format!(" (medians over {n} seeds, each of which has its own)"),
    };
    let truncated = match target.is_truncated {
        true => {
            " Retraining ended at its last epoch and not by its own rule: with more epochs it would be better, and \
             its plateau is only what these epochs give."
        }
        false => "",
    };
    format!("Target: {TARGET}: {old} nats on old and {new} on new data{seeds}.{truncated}")
}

/// Writes the distance of the old encoder from the target in a sentence.
pub(crate) fn distance(distances: &Distances) -> String {
    let part = |name: &str, of: &Distance| {
        format!(
            "on {name} data it lies {} {} the target of {} nats ({} times the noise of {} nats)",
            percent(of.above_target.abs()),
            if of.start < of.target {
                "below"
            } else {
                "above"
            },
            nats(of.target),
            rounded(of.n_noise.abs(), 1),
            nats(of.noise),
        )
    };
    format!(
        "Distance of the old encoder from the quality of retraining: {}; {}. The target is retraining's \
         plateau + 1 % on each part; the noise is the spread of the distance over the seeds, or of retraining's last \
         evaluations in a single seed. Below three times the noise no speed-up is given.",
        part("old", &distances.old),
        part("new", &distances.new)
    )
}

#[cfg(test)]
mod tests {
    use icl_core::ByOrigin;
    use icl_train::{REFERENCE, StoppedBy};

    use super::*;
    use crate::fixture::comparison;
    use crate::record::RunRecord;

    fn goal(records: &[RunRecord]) -> String {
        super::goal(TargetSummary::of(records).as_ref())
    }

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
