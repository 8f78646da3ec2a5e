//! Scalars of records.

use icl_train::Evaluation;

use crate::record::{TrainRecord, UpdateRecord};
use crate::tensorboard::events::Scalar;

/// Returns what is recorded over a first encoder's training: `passes/risk` at each evaluation, by the number of sample
/// passes, and `epochs/loss` and `epochs/negatives`, by the epoch, counted from 1.
pub fn training_scalars(record: &TrainRecord) -> Vec<Scalar> {
    let mut scalars = over_passes("passes/risk", &record.course.evaluations, |risk| *risk);
    scalars.extend(over_epochs("epochs/loss", &record.course.epoch_losses));
    scalars.extend(over_epochs(
        "epochs/negatives",
        &record.course.step_negatives,
    ));
    scalars
}

/// Returns what is recorded over an update: the exact risk and its parts at each evaluation (`passes/risk_all`,
/// `risk_old`, `risk_new`, `nce1_old`, `nce2_old`), whose step is the number of sample passes, and `epochs/loss`,
/// `negatives`, `learning_rate`, `support_learning_rate` and `old_fraction`, whose step is the epoch, counted
/// from 1.
pub fn update_scalars(record: &UpdateRecord) -> Vec<Scalar> {
    let evaluations = &record.course.evaluations;
    let mut scalars = over_passes("passes/risk_all", evaluations, |risk| risk.all);
    scalars.extend(over_passes("passes/risk_old", evaluations, |risk| risk.old));
    scalars.extend(over_passes("passes/risk_new", evaluations, |risk| risk.new));
    scalars.extend(over_passes("passes/nce1_old", evaluations, |risk| {
        risk.nce1_old
    }));
    scalars.extend(over_passes("passes/nce2_old", evaluations, |risk| {
        risk.nce2_old
    }));
    for (tag, values) in [
        ("epochs/loss", &record.course.epoch_losses),
        ("epochs/negatives", &record.course.step_negatives),
        ("epochs/learning_rate", &record.update.learning_rates),
        (
            "epochs/support_learning_rate",
            &record.update.support_learning_rates,
        ),
        ("epochs/old_fraction", &record.update.old_fractions),
    ] {
        scalars.extend(over_epochs(tag, values));
    }
    scalars
}

fn over_passes<R>(tag: &str, evaluations: &[Evaluation<R>], of: fn(&R) -> f64) -> Vec<Scalar> {
    let scalar = |evaluation: &Evaluation<R>| Scalar {
        tag: tag.to_owned(),
        step: evaluation.sample_passes,
        value: of(&evaluation.risk),
    };
    evaluations.iter().map(scalar).collect()
}

fn over_epochs(tag: &str, values: &[f64]) -> impl Iterator<Item = Scalar> {
    let numbered = (1..).zip(values);
    numbered.map(move |(step, value)| Scalar {
        tag: tag.to_owned(),
        step,
        value: *value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{first, update};

    fn of(scalars: &[Scalar], tag: &str) -> Vec<(u64, f64)> {
        let own = scalars.iter().filter(|scalar| scalar.tag == tag);
        own.map(|scalar| (scalar.step, scalar.value)).collect()
    }

    #[test]
    fn a_training_has_its_risk_and_losses() {
        let scalars = training_scalars(&first());
        assert_eq!(of(&scalars, "passes/risk"), [(0, 3.5), (480, 2.25)]);
        assert_eq!(of(&scalars, "epochs/loss"), [(1, 3.4), (2, 2.6)]);
        assert_eq!(of(&scalars, "epochs/negatives"), [(1, 31.0), (2, 31.0)]);
        assert_eq!(scalars.len(), 6);
    }

    #[test]
    fn an_update_has_all_that_is_recorded_over_it() {
        let record = update(2.8, 2.25, 0.1);
        let scalars = update_scalars(&record);
        let last = record.course.evaluations.last().unwrap();
        let passes = last.sample_passes;
        for (tag, value) in [
            ("passes/risk_all", last.risk.all),
            ("passes/risk_old", last.risk.old),
            ("passes/risk_new", last.risk.new),
            ("passes/nce1_old", last.risk.nce1_old),
            ("passes/nce2_old", last.risk.nce2_old),
        ] {
            let found = of(&scalars, tag);
            assert_eq!(found.len(), record.course.evaluations.len(), "{tag}");
            assert_eq!(found.last(), Some(&(passes, value)), "{tag}");
        }
        assert_eq!(
            of(&scalars, "epochs/loss").len(),
            record.course.epoch_losses.len()
        );
        assert_eq!(of(&scalars, "epochs/learning_rate"), [(1, 3e-3), (2, 3e-3)]);
        assert_eq!(of(&scalars, "epochs/old_fraction"), [(1, 0.2), (2, 0.4)]);
        assert!(of(&scalars, "epochs/support_learning_rate").is_empty());
    }
}
