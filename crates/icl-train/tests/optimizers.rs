//! Optimizers of Burn in the trainer: they train, and a run that was interrupted ends as one that was not.

use std::cell::Cell;

use burn::grad_clipping::GradientClippingConfig;
use burn::optim::decay::WeightDecayConfig;
use burn::optim::momentum::MomentumConfig;
use burn::optim::{
    AdaGradConfig, AdamConfig, AdamWConfig, AdanConfig, MuonConfig, Optimizer, RmsPropConfig,
    SgdConfig,
};
use icl_core::testing::{TestAutodiff, to_vec};
use icl_train::{Callbacks, StopRule, TrainError, TrainingSettings};

use crate::toy::{Linear, corrected, increment, points, settings, start, timeless, trainer};

type B = TestAutodiff;
type M = Linear<B>;

/// Trains with and without an interruption after 8 steps. Returns the trained weight.
fn resumes_to_the_bit(optimizer: impl Optimizer<M, B>, learning_rate: f64) -> Vec<f64> {
    let (samples, increment) = (points(), increment());
    let settings = TrainingSettings {
        epochs: 6,
        stop: StopRule::Never,
        learning_rate,
        ..settings()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let run = |n_steps: Option<u64>| {
        let n_done = Cell::new(0);
        let mut watch = Callbacks::new().stop_when(|| {
            n_done.set(n_done.get() + 1);
            n_steps.is_some_and(|n| n_done.get() >= n)
        });
        if n_steps.is_some() {
            watch = watch.with_checkpoint(&path);
        }
        trainer(&samples, &increment, &settings, 4)
            .optimizer(optimizer.clone())
            .update_with(&corrected(), start(), None, &mut watch)
    };
    let whole = run(None).unwrap();
    let stopped = run(Some(8));
    assert!(matches!(stopped, Err(TrainError::Interrupted { step: 8 })));
    let resumed = run(Some(u64::MAX)).unwrap();
    let weight = to_vec(&whole.trained.weight.val());
    assert_eq!(to_vec(&resumed.trained.weight.val()), weight);
    assert_eq!(timeless(resumed.record), timeless(whole.record));
    assert!(whole.risk.all < whole.first_risk.all);
    weight
}

#[test]
fn every_optimizer_of_burn_trains_and_resumes() {
    let momentum = MomentumConfig::new().with_momentum(0.9);
    let all = [
        resumes_to_the_bit(AdaGradConfig::new().init::<B, M>(), 0.05),
        resumes_to_the_bit(AdamConfig::new().init::<B, M>(), 0.01),
        resumes_to_the_bit(AdamWConfig::new().init::<B, M>(), 0.01),
        resumes_to_the_bit(AdanConfig::new().init::<B, M>(), 0.01),
        resumes_to_the_bit(MuonConfig::new().init::<B, M>(), 0.02),
        resumes_to_the_bit(RmsPropConfig::new().init::<B, M>(), 0.01),
        resumes_to_the_bit(SgdConfig::new().init::<B, M>(), 0.05),
        resumes_to_the_bit(
            SgdConfig::new()
                .with_momentum(Some(momentum))
                .init::<B, M>(),
            0.05,
        ),
    ];
    // Each has a course of its own.
    for (at, one) in all.iter().enumerate() {
        assert!(all[..at].iter().all(|other| other != one), "{at}");
    }
}

#[test]
fn weight_decay_and_clipping_are_the_optimizer_s() {
    let decayed = AdamConfig::new().with_weight_decay(Some(WeightDecayConfig::new(0.1)));
    let clipped = GradientClippingConfig::Norm(0.01);
    let all = [
        resumes_to_the_bit(AdamConfig::new().init::<B, M>(), 0.01),
        resumes_to_the_bit(decayed.init::<B, M>(), 0.01),
        resumes_to_the_bit(
            SgdConfig::new()
                .with_gradient_clipping(Some(clipped))
                .init::<B, M>(),
            0.05,
        ),
        resumes_to_the_bit(SgdConfig::new().init::<B, M>(), 0.05),
    ];
    assert_ne!(all[0], all[1]);
    assert_ne!(all[2], all[3]);
}

/// A checkpoint belongs to one optimizer: another one refuses it.
#[test]
fn a_checkpoint_of_another_optimizer_is_refused() {
    let (samples, increment, settings) = (points(), increment(), settings());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let n_done = Cell::new(0);
    let mut watch = Callbacks::new().with_checkpoint(&path).stop_when(|| {
        n_done.set(n_done.get() + 1);
        n_done.get() >= 3
    });
    let first = trainer(&samples, &increment, &settings, 4)
        .optimizer(AdamWConfig::new().init::<B, M>())
        .update_with(&corrected(), start(), None, &mut watch);
    assert!(matches!(first, Err(TrainError::Interrupted { step: 3 })));
    let mut watch = Callbacks::new().with_checkpoint(&path);
    let second = trainer(&samples, &increment, &settings, 4)
        .optimizer(RmsPropConfig::new().init::<B, M>())
        .update_with(&corrected(), start(), None, &mut watch);
    let error = second.unwrap_err().to_string();
    assert!(
        error.contains("optimizer") && error.contains("AdamW"),
        "{error}"
    );
}
