//! Learning rates of Burn's schedulers and of functions of the step.

use std::cell::Cell;

use burn::lr_scheduler::LrScheduler;
use burn::lr_scheduler::composed::{ComposedLrSchedulerConfig, SchedulerReduction};
use burn::lr_scheduler::constant::ConstantLr;
use burn::lr_scheduler::cosine::CosineAnnealingLrSchedulerConfig;
use burn::lr_scheduler::linear::LinearLrSchedulerConfig;
use icl_core::RateChoice;
use icl_core::testing::{TestAutodiff, assert_close, to_vec};
use icl_train::{Callbacks, Method, Outcome, StopRule, TrainErrorKind, TrainingSettings};

use crate::toy::{Linear, corrected, increment, points, settings, start, timeless, trainer};

/// Trains by a scheduler with and without an interruption after 8 steps. Returns the rates of the epochs.
fn scheduled(scheduler: impl LrScheduler + 'static) -> Vec<f64> {
    let (samples, increment) = (points(), increment());
    let settings = TrainingSettings {
        epochs: 6,
        stop: StopRule::Never,
        ..settings()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let run = |watch: &mut Callbacks<'_>| {
        trainer(&samples, &increment, &settings, 4)
            .scheduler(scheduler.clone())
            .update_with(&corrected(), start(), None, watch)
    };
    let whole = run(&mut Callbacks::new()).unwrap();
    let n_done = Cell::new(0);
    let stop = || {
        n_done.set(n_done.get() + 1);
        n_done.get() >= 8
    };
    let stopped = run(&mut Callbacks::new().with_checkpoint(&path).stop_when(stop));
    let stopped = stopped.map(drop).unwrap_err().kind();
    assert_eq!(stopped, TrainErrorKind::Interrupted { step: 8 });
    let resumed = run(&mut Callbacks::new().with_checkpoint(&path)).unwrap();
    let weight =
        |of: &Outcome<Linear<TestAutodiff>, TestAutodiff>| to_vec(&of.trained.weight.val());
    assert_eq!(weight(&resumed), weight(&whole));
    assert_eq!(timeless(resumed.record), timeless(whole.record.clone()));
    whole.record.learning_rates
}

#[test]
fn schedulers_of_burn_set_the_rates_and_resume() {
    let constant = scheduled(ConstantLr::new(0.004));
    assert_eq!(constant, vec![0.004; 6]);
    let cosine = CosineAnnealingLrSchedulerConfig::new(0.01, 100);
    let falling = scheduled(cosine.init().unwrap());
    assert!(
        falling.windows(2).all(|pair| pair[1] < pair[0]),
        "{falling:?}"
    );
    let warm_up = LinearLrSchedulerConfig::new(1e-4, 1.0, 5);
    let product = ComposedLrSchedulerConfig::new()
        .linear(warm_up)
        .cosine(cosine)
        .with_reduction(SchedulerReduction::Prod);
    let composed = scheduled(product.init().unwrap());
    assert!(composed[0] < falling[0] && composed != falling);
}

/// A function of the step is the schedule that it says, and needs no state.
#[test]
fn rates_may_be_a_function_of_the_step() {
    let (samples, increment) = (points(), increment());
    let settings = TrainingSettings {
        epochs: 3,
        stop: StopRule::Never,
        ..settings()
    };
    let n_steps = Cell::new(0);
    let mut watch = Callbacks::new().on_step(|_| n_steps.set(n_steps.get() + 1));
    let outcome = trainer(&samples, &increment, &settings, 4)
        .rates(|step| 1e-3 * (step + 1) as f64)
        .update_with(&corrected(), start(), None, &mut watch)
        .unwrap();
    let per_epoch = n_steps.get() / 3;
    let mean = |epoch: u64| {
        let rates =
            (epoch * per_epoch..(epoch + 1) * per_epoch).map(|step| 1e-3 * (step + 1) as f64);
        rates.sum::<f64>() / per_epoch as f64
    };
    assert_close(
        &outcome.record.learning_rates,
        &[mean(0), mean(1), mean(2)],
        1e-12,
    );
}

/// A rate that follows the run and a scheduler exclude each other.
#[test]
fn a_scheduler_with_a_learned_rate_is_refused() {
    let (samples, increment, settings) = (points(), increment(), settings());
    let method = Method {
        rate: RateChoice::Hypergradient,
        ..corrected()
    };
    let error = trainer(&samples, &increment, &settings, 4)
        .scheduler(ConstantLr::new(0.004))
        .update(&method, start())
        .unwrap_err();
    assert!(error.to_string().contains("ConstantLr"), "{error}");
}

/// Rates are compared by those of the first steps.
#[test]
fn a_checkpoint_of_other_rates_is_refused() {
    let (samples, increment, settings) = (points(), increment(), settings());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let run = |rate: f64, n_steps: u64| {
        let n_done = Cell::new(0);
        let mut watch = Callbacks::new().with_checkpoint(&path).stop_when(|| {
            n_done.set(n_done.get() + 1);
            n_done.get() >= n_steps
        });
        trainer(&samples, &increment, &settings, 4)
            .rates(move |_| rate)
            .update_with(&corrected(), start(), None, &mut watch)
            .map(drop)
    };
    let kind = run(3e-3, 3).unwrap_err().kind();
    assert_eq!(kind, TrainErrorKind::Interrupted { step: 3 });
    let error = run(0.3, u64::MAX).unwrap_err();
    assert_eq!(error.kind(), TrainErrorKind::Checkpoint);
    assert!(error.to_string().contains("scheduler"), "{error}");
    assert!(run(3e-3, u64::MAX).is_ok());
}
