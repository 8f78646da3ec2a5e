//! Optimizers and schedulers of Burn in the trainer: they train, and a run that was interrupted ends as one that was
//! not.

use std::cell::Cell;

use burn::grad_clipping::GradientClippingConfig;
use burn::module::{AutodiffModule, Module, Param};
use burn::nn::{Embedding, EmbeddingConfig};
use burn::optim::decay::WeightDecayConfig;
use burn::optim::momentum::MomentumConfig;
use burn::optim::{
    AdaGradConfig, AdamConfig, AdamWConfig, AdanConfig, MuonConfig, Optimizer, RmsPropConfig,
    SgdConfig,
};
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
use icl_core::testing::{TestAutodiff, assert_close, to_vec};
use icl_core::{Encoder, Mode, RateChoice};
use icl_train::{
    Callbacks, Method, Outcome, TrainError, TrainErrorKind, TrainingSettings, UpdateRule,
    parameter_change, parameter_norm,
};

use crate::toy::{Linear, corrected, increment, points, settings, start, timeless, trainer};

type B = TestAutodiff;
type M = Linear<B>;

/// Trains six epochs with and without an interruption after 8 steps. Returns the outcome.
fn resumed<E: AutodiffModule<B>>(
    update: impl Fn(&mut Callbacks<'_>) -> Result<Outcome<E, B>, TrainError>,
) -> Outcome<E, B> {
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
        update(&mut watch)
    };
    let whole = run(None).unwrap();
    let stopped = run(Some(8));
    let stopped = stopped.map(drop).unwrap_err().kind();
    assert_eq!(stopped, TrainErrorKind::Interrupted { step: 8 });
    let resumed = run(Some(u64::MAX)).unwrap();
    // Exactly 0 of no other parameters.
    assert_eq!(
        parameter_change::<B, _>(&resumed.trained, &whole.trained),
        0.0
    );
    assert_eq!(timeless(resumed.record), timeless(whole.record.clone()));
    let (first, last) = (whole.first_risk.all, whole.risk.all);
    assert!(last < first, "risk from {first} to {last}");
    whole
}

fn six_epochs() -> TrainingSettings {
    TrainingSettings {
        epochs: 6,
        ..settings()
    }
}

/// Trains with and without an interruption. Returns the trained weight.
fn resumes_to_the_bit(optimizer: impl Optimizer<M, B>, learning_rate: f64) -> Vec<f64> {
    let (samples, increment) = (points(), increment());
    let settings = TrainingSettings {
        learning_rate,
        ..six_epochs()
    };
    let trainer = trainer(&samples, &increment, &settings, 4).optimizer(optimizer);
    let outcome = resumed(|watch| trainer.update_with(&corrected(), start(), None, watch));
    to_vec(&outcome.trained.weight.val())
}

/// The map x·(W + E) + b, with the table E of an embedding.
#[derive(Module, Debug)]
struct Several<B: Backend> {
    weight: Param<Tensor<B, 2>>,
    kernel: Param<Tensor<B, 3>>,
    bias: Param<Tensor<B, 1>>,
    table: Embedding<B>,
}

impl<B: Backend> Several<B> {
    fn new() -> Self {
        let device = Default::default();
        let tensor = |n: usize, shift: f64| {
            let values: Vec<f64> = (0..n).map(|at| (at as f64 + shift).sin()).collect();
            Tensor::<B, 1>::from_data(TensorData::new(values, [n]), &device)
        };
        let mut table = EmbeddingConfig::new(4, 4).init(&device);
        table.weight = Param::from_tensor(tensor(16, 0.3).reshape([4, 4]));
        Self {
            weight: Param::from_tensor(tensor(16, 0.0).reshape([4, 4])),
            kernel: Param::from_tensor(tensor(16, 0.5).reshape([4, 2, 2])),
            bias: Param::from_tensor(tensor(4, 0.7)),
            table,
        }
    }
}

impl<B: Backend> Encoder<B> for Several<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, batch: Tensor<B, 2>, _mode: Mode<'_>) -> Tensor<B, 2> {
        let kernel = self.kernel.val().reshape([4, 4]);
        batch.matmul(self.weight.val() + self.table.weight.val() + kernel)
            + self.bias.val().unsqueeze()
    }
}

/// By every rule with a warm-up that the interruption is in, clipping, and weight decay where the rule has it.
#[test]
fn every_rule_trains_and_resumes() {
    let (samples, increment) = (points(), increment());
    let start = Several::<B>::new();
    let mut found = Vec::new();
    for (rule, learning_rate, decays) in [
        (UpdateRule::Adam, 0.01, &[None][..]),
        (UpdateRule::AdamW, 0.01, &[None, Some(0.0), Some(1.0)]),
        (UpdateRule::Muon, 0.003, &[None, Some(1.0)]),
        (UpdateRule::Sgd, 0.1, &[None, Some(0.5)]),
        (UpdateRule::Lars, 20.0, &[None, Some(1e-3)]),
    ] {
        for &weight_decay in decays {
            let settings = TrainingSettings {
                learning_rate,
                weight_decay,
                warm_up: 12,
                clip_norm: Some(0.5),
                ..six_epochs()
            };
            let trainer = trainer(&samples, &increment, &settings, 4).update_rule(rule);
            let update = |watch: &mut Callbacks<'_>| {
                trainer.update_with(&corrected(), start.clone(), None, watch)
            };
            let outcome = resumed(update);
            found.push((rule, weight_decay, outcome.parameter_change));
        }
    }
    // Each has a course of its own, but for AdamW without decay, which is Adam.
    for (at, one) in found.iter().enumerate() {
        for other in &found[..at] {
            let is_adam = one.1 == Some(0.0) && other.0 == UpdateRule::Adam;
            assert_eq!(one.2 == other.2, is_adam, "{one:?} and {other:?}");
        }
    }
}

/// A step of gradient descent has the clipped norm over all parameters as its length.
#[test]
fn the_gradient_is_clipped_over_all_parameters() {
    let (samples, increment) = (points(), increment());
    let start = Several::<B>::new();
    let moved = |clip_norm: Option<f64>| {
        let settings = TrainingSettings {
            epochs: 1,
            batch_size: 90,
            learning_rate: 1.0,
            clip_norm,
            ..settings()
        };
        let trainer = trainer(&samples, &increment, &settings, 4).update_rule(UpdateRule::Sgd);
        let outcome = trainer.update(&corrected(), start.clone()).unwrap();
        assert_eq!(outcome.record.n_steps, 1);
        outcome.parameter_change * parameter_norm::<B, _>(&start)
    };
    let norm = moved(None);
    assert!(norm > 0.1, "{norm}");
    for factor in [0.1, 0.9, 2.0] {
        assert_close(
            &[moved(Some(factor * norm))],
            &[norm * factor.min(1.0)],
            1e-5,
        );
    }
}

/// The rate that is applied and recorded rises linearly to that of its source, a schedule or one that follows the run.
#[test]
fn a_warm_up_is_on_top_of_the_rate() {
    let (samples, increment) = (points(), increment());
    for rate in [
        RateChoice::Fixed,
        RateChoice::Cosine,
        RateChoice::Hypergradient,
    ] {
        let method = Method {
            rate,
            ..corrected()
        };
        let rates = |warm_up: u64| {
            let settings = TrainingSettings {
                warm_up,
                ..six_epochs()
            };
            let trainer = trainer(&samples, &increment, &settings, 4);
            trainer
                .update(&method, start())
                .unwrap()
                .record
                .learning_rates
        };
        let (without, with) = (rates(0), rates(18));
        assert!(with.windows(2).take(2).all(|pair| pair[0] < pair[1]));
        if rate == RateChoice::Fixed {
            // Epochs of six steps, the first from 1/18 to 6/18.
            let expected = [3.5 / 18.0, 9.5 / 18.0, 15.5 / 18.0, 1.0, 1.0, 1.0];
            let expected: Vec<f64> = expected.iter().map(|share| 3e-3 * share).collect();
            assert_close(&with, &expected, 1e-12);
        }
        if rate != RateChoice::Hypergradient {
            assert_eq!(with[3..], without[3..]);
        }
    }
}

/// A weight decay that the optimizer does not have is no silent one.
#[test]
fn weight_decay_belongs_to_a_rule() {
    let (samples, increment) = (points(), increment());
    let settings = TrainingSettings {
        weight_decay: Some(0.1),
        ..six_epochs()
    };
    let trainer = || trainer(&samples, &increment, &settings, 4);
    let message = |result: Result<Outcome<M, B>, TrainError>| {
        let error = result.map(drop).unwrap_err();
        assert_eq!(error.kind(), TrainErrorKind::Invalid);
        error.to_string()
    };
    let of_adam = "weight_decay: found 0.1 with the optimizer adam, expected adamw, or another rule with weight decay";
    let by_rule = trainer().update_rule(UpdateRule::Adam);
    assert_eq!(message(by_rule.update(&corrected(), start())), of_adam);
    // The default has one, of matrices.
    assert!(trainer().update(&corrected(), start()).is_ok());
    let own = trainer().optimizer(AdamWConfig::new().init::<B, M>());
    let found = message(own.update(&corrected(), start()));
    assert!(found.contains("that optimizer's own"), "{found}");
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
    let first = first.map(drop).unwrap_err().kind();
    assert_eq!(first, TrainErrorKind::Interrupted { step: 3 });
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
