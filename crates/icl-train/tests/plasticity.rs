//! Starts that restore plasticity, and its measures, on a perceptron with hand-made dead units.

use std::cell::Cell;

use burn::module::{AutodiffModule, Module, Param};
use burn::tensor::activation::relu;
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
use icl_core::testing::{TestAutodiff, TestBackend, assert_close, to_vec};
use icl_core::{Encoder, Increment, Mode, Seed};
use icl_train::{
    DORMANT, Method, Start, Started, StopRule, TrainError, Trainability, TrainingSettings,
    parameter_norm,
};
use rand::RngExt;

use crate::toy::{Linear, increment, points, settings, trainer};

/// Perceptron relu(x·W + b)·V with six hidden units.
#[derive(Module, Debug)]
struct Perceptron<B: Backend> {
    weight: Param<Tensor<B, 2>>,
    bias: Param<Tensor<B, 1>>,
    output: Param<Tensor<B, 2>>,
}

type Toy = Perceptron<TestAutodiff>;

/// Number of hidden units.
const UNITS: usize = 6;

impl Toy {
    fn new(seed: u64) -> Self {
        let mut rng = Seed::new(seed).rng();
        let mut draw = |n: usize| (0..n).map(|_| rng.random::<f64>() - 0.5).collect();
        let [weight, bias, output] = [4 * UNITS, UNITS, UNITS * 3].map(&mut draw);
        Self::of(weight, bias, output)
    }

    fn of(weight: Vec<f64>, bias: Vec<f64>, output: Vec<f64>) -> Self {
        let device = &Default::default();
        let matrix = |values: Vec<f64>, shape: [usize; 2]| {
            Param::from_tensor(Tensor::from_data(TensorData::new(values, shape), device))
        };
        Self {
            weight: matrix(weight, [4, UNITS]),
            bias: Param::from_tensor(Tensor::from_data(TensorData::new(bias, [UNITS]), device)),
            output: matrix(output, [UNITS, 3]),
        }
    }

    /// Parameters W, b and V.
    fn values(&self) -> [Vec<f64>; 3] {
        [
            to_vec(&self.weight.val()),
            to_vec(&self.bias.val()),
            to_vec(&self.output.val()),
        ]
    }

    /// Kills units 1 and 4, and makes unit 2 nearly dead.
    fn half_dead(seed: u64) -> Self {
        let [mut weight, mut bias, output] = Self::new(seed).values();
        for (unit, bias) in bias.iter_mut().enumerate() {
            match unit {
                1 | 4 => *bias = -50.0,
                2 => {
                    *bias = 1e-4;
                    (0..4).for_each(|row| weight[row * UNITS + 2] = 0.0);
                }
                _ => *bias += 0.5,
            }
        }
        Self::of(weight, bias, output)
    }
}

impl<B: Backend> Encoder<B> for Perceptron<B> {
    type Batch = Tensor<B, 2>;

    const FORWARD_SHARE: f64 = 0.25;

    fn encode(&self, batch: Tensor<B, 2>, _mode: Mode<'_>) -> Tensor<B, 2> {
        let hidden = batch.matmul(self.weight.val()) + self.bias.val().unsqueeze();
        relu(hidden).matmul(self.output.val())
    }

    fn hidden_activations(&self, batch: Tensor<B, 2>) -> Option<Vec<Tensor<B, 2>>> {
        let hidden = batch.matmul(self.weight.val()) + self.bias.val().unsqueeze();
        Some(vec![relu(hidden)])
    }

    fn with_fresh_units(mut self, fresh: &Self, units: &[Vec<bool>]) -> Option<Self> {
        let device = self.bias.val().device();
        let anew: Vec<f64> = units[0].iter().map(|unit| f64::from(*unit)).collect();
        let anew = Tensor::<B, 1>::from_data(TensorData::new(anew, [UNITS]), &device);
        let kept = anew.ones_like() - anew.clone();
        let [row, kept_row] = [&anew, &kept].map(|it| it.clone().reshape([1, UNITS]));
        let column = kept.clone().reshape([UNITS, 1]);
        let (weight, bias) = (fresh.weight.val().detach(), fresh.bias.val().detach());
        let renewed = |old: Tensor<B, 2>| (old * kept_row + weight * row).detach().require_grad();
        self.weight = self.weight.map(renewed);
        let renewed = |old: Tensor<B, 1>| (old * kept + bias * anew).detach().require_grad();
        self.bias = self.bias.map(renewed);
        let silenced = |old: Tensor<B, 2>| (old * column).detach().require_grad();
        self.output = self.output.map(silenced);
        Some(self)
    }
}

fn fresh(seed: u64) -> impl FnOnce() -> Result<Toy, TrainError> {
    move || Ok(Toy::new(seed))
}

#[test]
fn activities_are_those_of_a_double_loop() {
    let (samples, increment) = (points(), increment());
    let trainer = trainer(&samples, &increment, &settings(), 3);
    let encoder = Toy::half_dead(1);
    let [weight, bias, _] = encoder.values();
    let panel: Vec<usize> = (5..85).collect();
    let mut expected = vec![0.0; UNITS];
    for sample in &panel {
        for unit in 0..UNITS {
            let mut z = bias[unit];
            for (row, x) in samples[*sample].iter().enumerate() {
                z += f64::from(*x) * weight[row * UNITS + unit];
            }
            expected[unit] += z.max(0.0) / panel.len() as f64;
        }
    }
    let evaluator = trainer.evaluator();
    let activity = evaluator.unit_activity(&encoder.valid(), &panel).unwrap();
    let activity = activity.unwrap();
    assert_eq!(activity.layers().len(), 1);
    assert_close(&activity.layers()[0], &expected, 1e-6);
    let mean = expected.iter().sum::<f64>() / UNITS as f64;
    for threshold in [0.0, DORMANT, 0.9, 1.1] {
        let dormant: Vec<bool> = expected.iter().map(|a| *a <= threshold * mean).collect();
        let share = dormant.iter().filter(|it| **it).count() as f64 / UNITS as f64;
        assert_eq!(activity.dormant(threshold), [dormant]);
        assert_eq!(activity.dormant_share(threshold), share);
    }
    assert_eq!(activity.dormant_share(0.0), 2.0 / 6.0);
    assert_eq!(activity.dormant_share(DORMANT), 3.0 / 6.0);
    let other = evaluator.unit_activity(&Linear::<TestBackend>::new(1), &panel);
    assert_eq!(other.unwrap(), None);
}

#[test]
fn dormant_units_begin_anew_and_learn() {
    let (samples, increment) = (points(), increment());
    let settings = TrainingSettings {
        steering_panel: 20,
        ..settings()
    };
    let trainer = trainer(&samples, &increment, &settings, 3);
    let trained = Toy::half_dead(1);
    let start = Start::ResetDormant(0.0);
    let Started { encoder, passes } = trainer.start(start, trained.clone(), fresh(2)).unwrap();
    let [before, after, anew] = [&trained, &encoder, &Toy::new(2)].map(Toy::values);
    for unit in 0..UNITS {
        let is_reset = unit == 1 || unit == 4;
        let incoming = if is_reset { &anew } else { &before };
        for row in 0..4 {
            let at = row * UNITS + unit;
            assert_eq!(after[0][at], incoming[0][at]);
        }
        assert_eq!(after[1][unit], incoming[1][unit]);
        for column in 0..3 {
            let at = unit * 3 + column;
            assert_eq!(after[2][at], if is_reset { 0.0 } else { before[2][at] });
        }
    }
    let all: Vec<usize> = (0..90).collect();
    let evaluator = trainer.evaluator();
    let embed = |encoder: &Toy| to_vec(&evaluator.embed(&encoder.valid(), &all).unwrap());
    assert_eq!(embed(&encoder), embed(&trained));
    // The panel alone: this encoder has no statistics to estimate.
    assert_eq!(passes, 20.0 * 0.25);

    let method = Method::named("warm").unwrap();
    let learned = trainer.update(&method, encoder).unwrap().trained.values();
    let still_dead = trainer.update(&method, trained).unwrap().trained.values();
    for unit in [1, 4] {
        let row = unit * 3..unit * 3 + 3;
        assert!(learned[2][row.clone()].iter().all(|weight| *weight != 0.0));
        assert_eq!(still_dead[2][row.clone()], before[2][row]);
    }
}

#[test]
fn an_encoder_without_units_is_one_clear_error() {
    let (samples, increment) = (points(), increment());
    let trainer = trainer(&samples, &increment, &settings(), 3);
    let anew = || Ok::<_, TrainError>(Linear::new(2));
    let error = trainer.start(Start::ResetDormant(DORMANT), Linear::new(1), anew);
    let message = error.unwrap_err().to_string();
    let expected = "start reset-dormant: found an encoder that does not expose its hidden units";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn other_starts_are_what_they_say() {
    let (samples, increment) = (points(), increment());
    let trainer = trainer(&samples, &increment, &settings(), 3);
    let (old, new) = (Toy::new(1), Toy::new(2));
    let calls = Cell::new(0);
    let start = |start: &str| {
        let fresh = || {
            calls.set(calls.get() + 1);
            Ok::<_, TrainError>(new.clone())
        };
        let started = trainer.start(start.parse().unwrap(), old.clone(), fresh);
        let Started { encoder, passes } = started.unwrap();
        assert_eq!(passes, 0.0);
        encoder
    };
    assert_eq!(start("trained").values(), old.values());
    assert_eq!(calls.get(), 0);
    assert_eq!(start("scratch").values(), new.values());
    assert_eq!(start("shrink-perturb:1:0").values(), old.values());
    for (text, keep, share) in [
        ("shrink-perturb", 0.4, 0.1),
        ("shrink-perturb:0.5:0.25", 0.5, 0.25),
    ] {
        let found = start(text).values();
        for ((found, old), new) in found.iter().zip(old.values()).zip(new.values()) {
            for ((found, old), new) in found.iter().zip(old).zip(new) {
                assert!((found - (keep * old + share * new)).abs() < 1e-6);
            }
        }
    }
    assert_eq!(calls.get(), 4);
    // What was blended is trained.
    let method: Method = "start=shrink-perturb,sampling=new".parse().unwrap();
    let outcome = trainer.update(&method, start("shrink-perturb")).unwrap();
    let (before, after) = (start("shrink-perturb").values(), outcome.trained.values());
    for (before, after) in before.iter().zip(&after) {
        assert_ne!(before, after);
    }
    let error = trainer.start(Start::Scratch, old.clone(), || Err(TrainError::NothingNew));
    assert!(matches!(error, Err(TrainError::NothingNew)));
}

#[test]
fn a_fresh_encoder_is_as_trainable_as_itself() {
    let (samples, increment) = (points(), increment());
    let trainer = trainer(&samples, &increment, &settings(), 3);
    let fresh = Toy::new(2);
    let found = trainer
        .trainability(fresh.clone(), fresh.clone(), 4)
        .unwrap();
    assert_eq!(found.ratio, Some(1.0));
    assert_eq!(found.risk, found.fresh_risk);
    assert_eq!(found.passes, Some(found.fresh_passes));
    assert!(found.fresh_passes > 0.0);
    // Two runs of four epochs over both views of 30 new samples, and at least their five evaluations.
    let training = 2.0 * 4.0 * 60.0;
    assert!(
        found.cost >= training + 2.0 * 5.0 * 60.0 * 0.25,
        "{}",
        found.cost
    );
    assert!(found.cost < 2.0 * training);
}

/// Trains by hand on the new samples, and counts the passes until the level.
#[test]
fn trainability_is_that_of_two_runs_by_hand() {
    let (samples, increment) = (points(), increment());
    let settings = settings();
    let outer = trainer(&samples, &increment, &settings, 3);
    let new = Increment::before(increment.new_data().to_vec()).unwrap();
    let hand = TrainingSettings {
        epochs: 5,
        stop: StopRule::Never,
        evaluate_every: Some(1),
        ..settings.clone()
    };
    let seed = Seed::new(3).child("trainability").value();
    let by_hand = trainer(&samples, &new, &hand, seed);
    let risks = |encoder: Toy| -> Vec<f64> {
        let record = by_hand.pretrain(encoder).unwrap().record;
        record.evaluations.iter().map(|it| it.risk).collect()
    };
    let warm = outer.pretrain(Toy::new(1)).unwrap().trained;
    let mut dead = Toy::new(1).values();
    dead[1].fill(-50.0);
    let [weight, bias, output] = dead;
    let dead = Toy::of(weight, bias, output);
    let fresh = risks(Toy::new(2));
    let level = fresh.iter().copied().fold(f64::INFINITY, f64::min);
    let at = |risks: &[f64]| risks.iter().position(|risk| *risk <= level);
    let mut seen = Vec::new();
    for encoder in [warm, Toy::new(7), dead] {
        let found: Trainability = outer.trainability(encoder.clone(), Toy::new(2), 5).unwrap();
        let own = at(&risks(encoder));
        let passes = |epochs: usize| (epochs * 60) as f64;
        assert_eq!(found.passes, own.map(passes));
        assert_eq!(found.fresh_passes, passes(at(&fresh).unwrap()));
        let ratio = own.map(|own| own as f64 / at(&fresh).unwrap() as f64);
        assert_eq!(found.ratio, ratio);
        seen.push(own);
    }
    // A trained encoder is faster than a fresh one, and a dead one never learns.
    assert!(seen[0] < at(&fresh), "{seen:?}");
    assert_eq!(seen[2], None);
}

#[test]
fn plasticity_is_measured_on_the_embeddings_of_the_panel() {
    let (samples, increment) = (points(), increment());
    let trainer = trainer(&samples, &increment, &settings(), 3);
    let encoder = Toy::half_dead(1);
    let panel: Vec<usize> = (0..40).collect();
    let expected = trainer.evaluator().embed_to_host(&encoder.valid(), &panel);
    let expected = expected.unwrap();
    let found = trainer.plasticity(&encoder, &panel, |rows| {
        assert_eq!(rows, expected);
        Ok(2.5)
    });
    let found = found.unwrap();
    assert_eq!(found.dormant_share, Some(0.5));
    assert_eq!(found.effective_rank, 2.5);
    let squares = encoder.values().concat().iter().map(|x| x * x).sum::<f64>();
    assert!((found.parameter_norm - squares.sqrt()).abs() < 1e-5 * squares.sqrt());
    assert_eq!(
        found.parameter_norm,
        parameter_norm::<TestAutodiff, _>(&encoder)
    );
    assert_eq!(found.trainability, None);
    assert_eq!(found.passes, 2.0 * 40.0 * 0.25);
    let failed = trainer.plasticity(&encoder, &panel, |_| Err("no rank".into()));
    assert!(matches!(failed, Err(TrainError::Sample(_))));
}

#[test]
fn a_start_is_charged_from_the_first_evaluation_on() {
    let (samples, increment) = (points(), increment());
    let trainer = trainer(&samples, &increment, &settings(), 3);
    let outcome = trainer.update(&Method::named("warm").unwrap(), Toy::new(1));
    let before = outcome.unwrap().record;
    let mut after = before.clone();
    after.charge_start(12.5);
    assert_eq!(after.cost.charged(), before.cost.charged() + 12.5);
    let charged = before.evaluations.iter().zip(&after.evaluations);
    for (before, after) in charged {
        assert_eq!(after.charged_passes, before.charged_passes + 12.5);
    }
}
