//! The reports of single steps.

use crate::toy::{corrected, increment, points, settings, start, timeless, trainer};
use icl_meta::RateChoice;
use icl_train::{
    Callbacks, EpochReport, Method, OptimizerChoice, StepReport, StopRule, StoppedBy,
    TrainingSettings,
};

fn methods() -> [Method; 2] {
    let plain = corrected();
    let meta = Method {
        optimizer: OptimizerChoice::Meta(None),
        rate: RateChoice::Learned,
        ..corrected()
    };
    [plain, meta]
}

#[test]
fn every_step_is_reported_with_its_loss_and_its_time() {
    let (samples, increment, settings) = (points(), increment(), settings());
    for method in methods() {
        let mut steps: Vec<StepReport> = Vec::new();
        let record = {
            let mut watch = Callbacks::new().on_step(|step| steps.push(step));
            trainer(&samples, &increment, &settings, 1)
                .update_with(&method, start(), None, &mut watch)
                .unwrap()
                .record
        };
        let numbers: Vec<u64> = steps.iter().map(|step| step.step).collect();
        assert_eq!(numbers, (1..=record.n_steps).collect::<Vec<_>>());
        // An epoch's loss is the mean over its steps.
        let n_steps = steps.len() / record.n_epochs();
        for (epoch, steps) in steps.chunks(n_steps).enumerate() {
            let mean = steps.iter().map(|step| step.loss).sum::<f64>() / n_steps as f64;
            assert!((mean - record.epoch_losses[epoch]).abs() < 1e-12);
        }
        // Every phase takes some time, and together they take no longer than the steps.
        let sum = |of: fn(&StepReport) -> f64| steps.iter().map(of).sum::<f64>();
        let phases = [
            sum(|step| step.seconds.forward),
            sum(|step| step.seconds.backward),
            sum(|step| step.seconds.update),
        ];
        assert!(phases.iter().all(|seconds| *seconds > 0.0), "{phases:?}");
        assert!(phases.iter().sum::<f64>() <= record.seconds.steps);
        assert!((sum(|step| step.seconds.views) - record.seconds.views).abs() < 1e-9);
        assert!((sum(|step| step.seconds.transfer) - record.seconds.collation).abs() < 1e-9);
    }
}

#[test]
fn progress_reports_steps_and_evaluations() {
    let (samples, increment) = (points(), increment());
    let settings = TrainingSettings {
        epochs: 2,
        ..settings()
    };
    let mut reports = Vec::new();
    let mut watch = Callbacks::new().on_progress(|at| reports.push(at));
    trainer(&samples, &increment, &settings, 1)
        .update_with(&corrected(), start(), None, &mut watch)
        .unwrap();
    drop(watch);
    let at = |epoch, step, is_evaluating| (epoch, step, is_evaluating);
    let found: Vec<_> = reports
        .iter()
        .map(|of| at(of.epoch, of.step, of.is_evaluating))
        .collect();
    let steps = |epoch| (1..=6).map(move |step| at(epoch, step, false));
    // An evaluation before each epoch and after the last one, and that of the result.
    let expected: Vec<_> = [at(0, 0, true)]
        .into_iter()
        .chain(steps(0))
        .chain([at(1, 0, true)])
        .chain(steps(1))
        .chain([at(2, 0, true), at(2, 0, true)])
        .collect();
    assert_eq!(found, expected);
    assert!(reports[0].risk.is_nan() && reports[1].risk.is_finite());
    assert!(
        reports[..reports.len() - 1]
            .iter()
            .all(|of| of.n_steps == 6)
    );
}

#[test]
fn every_epoch_is_reported() {
    let (samples, increment) = (points(), increment());
    let settings = TrainingSettings {
        epochs: 3,
        ..settings()
    };
    let mut epochs: Vec<EpochReport> = Vec::new();
    let mut watch = Callbacks::new().on_epoch(|epoch| epochs.push(epoch));
    let outcome = trainer(&samples, &increment, &settings, 1)
        .update_with(&corrected(), start(), None, &mut watch)
        .unwrap();
    drop(watch);
    let record = outcome.record;
    assert_eq!(epochs.len(), 3);
    for (at, epoch) in epochs.iter().enumerate() {
        assert_eq!((epoch.epoch, epoch.n_epochs), (at + 1, 3));
        assert_eq!(epoch.n_steps, 6 * (at as u64 + 1));
        assert_eq!(epoch.loss, record.epoch_losses[at]);
        assert_eq!(epoch.learning_rate, record.learning_rates[at]);
        // The last evaluation is that before the epoch.
        assert_eq!(epoch.risk, record.evaluations[at].risk.all);
        assert!(epoch.charged_passes > 0.0 && epoch.train_s > 0.0);
    }
}

/// A stopping rule of the caller's own ends a run with a result: the encoder of the lowest risk under a rule that
/// follows the risk, else the last one.
#[test]
fn the_caller_may_end_a_run() {
    let (samples, increment) = (points(), increment());
    for stop in [StopRule::Never, StopRule::ExactRisk] {
        let settings = TrainingSettings {
            epochs: 50,
            stop,
            ..settings()
        };
        let mut n_done = 0;
        let mut watch = Callbacks::new().end_when(|_| {
            n_done += 1;
            n_done >= 20
        });
        let outcome = trainer(&samples, &increment, &settings, 1)
            .update_with(&corrected(), start(), None, &mut watch)
            .unwrap();
        assert_eq!(outcome.record.n_steps, 20);
        assert_eq!(outcome.record.stopped_by, Some(StoppedBy::Caller));
        let best = outcome.record.best_evaluation;
        match stop {
            StopRule::ExactRisk => {
                // The mean of the risks over old and over new samples.
                let risk = |at: usize| {
                    let risk = &outcome.record.evaluations[at].risk;
                    (risk.old + risk.new) / 2.0
                };
                let lowest = (0..outcome.record.evaluations.len())
                    .map(risk)
                    .fold(f64::INFINITY, f64::min);
                assert_eq!(risk(best.unwrap()), lowest);
            }
            _ => assert_eq!(best, None),
        }
        assert!(outcome.risk.all < outcome.first_risk.all);
    }
}

#[test]
fn looking_changes_nothing() {
    let (samples, increment, settings) = (points(), increment(), settings());
    for method in methods() {
        let run = |watch: &mut Callbacks<'_>| {
            let trainer = trainer(&samples, &increment, &settings, 1);
            timeless(
                trainer
                    .update_with(&method, start(), None, watch)
                    .unwrap()
                    .record,
            )
        };
        assert_eq!(
            run(&mut Callbacks::new()),
            run(&mut Callbacks::new().on_step(|_| ()))
        );
    }
}
