//! The trainer on a small problem of a user's own: a linear encoder of points in the plane.

use std::borrow::Cow;

use burn::module::{AutodiffModule, Module, Param};
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
use icl_core::testing::{TestAutodiff, TestBackend};
use icl_core::{Collate, Encoder, Increment, Mode, Rng, SampleError, Samples, Seed, Views};
use icl_meta::{
    Noise, Objective, Outcome, Problem, StopRule, TrainError, Trainer, TrainingRecord,
    TrainingSettings, UpdateRule, parameter_change,
};
use rand::RngExt;

#[derive(Module, Debug)]
struct Linear<B: Backend> {
    weight: Param<Tensor<B, 2>>,
}

impl<B: Backend> Linear<B> {
    fn new(seed: u64) -> Self {
        let mut rng = Seed::new(seed).rng();
        let weight: Vec<f64> = (0..16).map(|_| rng.random::<f64>() - 0.5).collect();
        let weight = Tensor::from_data(TensorData::new(weight, [4, 4]), &Default::default());
        Self {
            weight: Param::from_tensor(weight),
        }
    }
}

impl<B: Backend> Encoder<B> for Linear<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, batch: Tensor<B, 2>, _mode: Mode<'_>) -> Tensor<B, 2> {
        batch.matmul(self.weight.val())
    }
}

struct Jitter;

impl Views for Jitter {
    type Sample = [f32; 4];
    type View = [f32; 4];

    fn view(&self, sample: &[f32; 4], rng: &mut Rng) -> [f32; 4] {
        sample.map(|x| x + 0.3 * (rng.random::<f32>() - 0.5))
    }

    fn plain(&self, sample: &[f32; 4]) -> [f32; 4] {
        *sample
    }
}

struct Stack;

impl<B: Backend> Collate<B> for Stack {
    type View = [f32; 4];
    type Batch = Tensor<B, 2>;

    fn collate(&self, views: &[[f32; 4]], device: &B::Device) -> Tensor<B, 2> {
        Tensor::from_data(TensorData::new(views.concat(), [views.len(), 4]), device)
    }
}

fn points() -> Vec<[f32; 4]> {
    let mut rng = Seed::new(9).rng();
    (0..90)
        .map(|at| {
            // New points lie elsewhere than old ones.
            let centre = if at < 60 { 0.0 } else { 0.7 };
            std::array::from_fn(|_| rng.random::<f32>() * 2.0 - 1.0 + centre)
        })
        .collect()
}

fn increment() -> Increment {
    Increment::try_new((0..60).collect(), (60..90).collect()).expect("two parts")
}

fn settings() -> TrainingSettings {
    TrainingSettings {
        epochs: 12,
        batch_size: 16,
        stop: StopRule::Never,
        evaluate_every: Some(1),
        average_decay: 0.0,
        ..Default::default()
    }
}

fn trainer<'a, S>(
    samples: &'a S,
    increment: &'a Increment,
    settings: &'a TrainingSettings,
    seed: u64,
) -> Trainer<'a, TestAutodiff, S, Jitter, Stack> {
    Trainer {
        problem: Problem {
            samples,
            views: &Jitter,
            collate: &Stack,
            increment,
        },
        settings,
        seed,
        device: Default::default(),
    }
}

type Trained = Result<Outcome<Linear<TestAutodiff>, TestAutodiff>, TrainError>;

fn train<S: Samples<Sample = [f32; 4]>>(
    samples: &S,
    objective: Objective,
    settings: &TrainingSettings,
    seed: u64,
) -> Trained {
    train_on("update", samples, objective, settings, seed)
}

fn train_on<S: Samples<Sample = [f32; 4]>>(
    stream: &str,
    samples: &S,
    objective: Objective,
    settings: &TrainingSettings,
    seed: u64,
) -> Trained {
    let increment = increment();
    let trainer = Trainer::<TestAutodiff, _, _, _> {
        problem: Problem {
            samples,
            views: &Jitter,
            collate: &Stack,
            increment: &increment,
        },
        settings,
        seed,
        device: Default::default(),
    };
    trainer.train(objective, start(), stream, &mut |_| ())
}

/// The same encoder each time, with the same identities of its parameters.
fn start() -> Linear<TestAutodiff> {
    static START: std::sync::LazyLock<Linear<TestAutodiff>> =
        std::sync::LazyLock::new(|| Linear::new(1));
    START.clone()
}

const OBJECTIVES: [Objective; 5] = [
    Objective::InfoNce(Noise::All),
    Objective::InfoNce(Noise::New),
    Objective::InfoNce(Noise::Fraction(0.2)),
    Objective::Published,
    Objective::Corrected,
];

/// A record without its timings.
fn timeless(mut record: TrainingRecord) -> TrainingRecord {
    record.seconds = Default::default();
    record.epoch_ends_s.clear();
    for evaluation in &mut record.evaluations {
        evaluation.train_s = 0.0;
    }
    record
}

#[test]
fn every_objective_moves_the_parameters_and_repeats_itself() {
    let samples = points();
    for objective in OBJECTIVES {
        let run = |seed| train(&samples, objective, &settings(), seed).unwrap();
        let (first, again, other) = (run(1), run(1), run(2));
        let change = parameter_change::<TestAutodiff, _>(&start(), &first.trained);
        assert!(
            change.is_finite() && change > 1e-3,
            "{objective:?} moved by {change}"
        );
        assert_eq!(timeless(first.record.clone()), timeless(again.record));
        assert_ne!(timeless(first.record.clone()), timeless(other.record));
        let record = first.record;
        assert_eq!(record.n_epochs(), 12);
        assert_eq!(record.evaluations.len(), 13);
        let n = match objective {
            Objective::InfoNce(Noise::New) => 30,
            Objective::InfoNce(Noise::Fraction(_)) => 42,
            _ => 90,
        };
        assert_eq!(record.sample_passes, 2 * 12 * n);
        for evaluation in &record.evaluations {
            let risk = evaluation.risk;
            let (old, new) = (60.0 / 90.0, 30.0 / 90.0);
            assert!((risk.all - old * risk.old - new * risk.new).abs() < 1e-9);
            assert!((risk.old - risk.nce1_old - risk.nce2_old).abs() < 1e-5);
            assert!(risk.theorem1_residual < 1e-5);
        }
    }
}

#[test]
fn training_on_the_risk_lowers_the_risk() {
    let samples = points();
    for objective in [Objective::InfoNce(Noise::All), Objective::Corrected] {
        let record = train(&samples, objective, &settings(), 1).unwrap().record;
        let (first, last) = (&record.evaluations[0], record.evaluations.last().unwrap());
        assert!(
            last.risk.all < first.risk.all - 0.02,
            "{} to {}",
            first.risk.all,
            last.risk.all
        );
    }
}

/// One step by hand: θ − rate · ∇L, on the batch that the plan names.
#[test]
fn a_step_of_gradient_descent_is_one() {
    let samples = points();
    let settings = TrainingSettings {
        epochs: 1,
        batch_size: 90,
        optimizer: UpdateRule::Sgd,
        learning_rate: 0.5,
        ..settings()
    };
    let outcome = train(&samples, Objective::InfoNce(Noise::All), &settings, 3).unwrap();
    let seed = Seed::new(3).child("update");
    let plan = icl_meta::EpochPlan::new(
        Objective::InfoNce(Noise::All),
        &increment(),
        90,
        seed.child("order"),
        0,
    );
    assert_eq!(plan.steps.len(), 1);
    let view = |which: u64| {
        let views: Vec<[f32; 4]> = plan.steps[0]
            .samples
            .iter()
            .map(|&i| {
                let mut rng = seed.child("views").at(0).at(i as u64).at(which).rng();
                Jitter.view(&samples[i], &mut rng)
            })
            .collect();
        Collate::<TestAutodiff>::collate(&Stack, &views, &Default::default())
    };
    let start = start();
    let loss = icl_core::InfoNceConfig::new()
        .with_negatives(Some(31.0))
        .init()
        .forward(
            start.encode(view(0), Mode::Evaluation),
            start.encode(view(1), Mode::Evaluation),
        );
    let gradient = start.weight.val().grad(&loss.backward()).unwrap();
    let expected = start.weight.val().inner() - gradient * 0.5;
    let difference = (outcome.encoder.weight.val() - expected).abs().max();
    assert!(difference.into_scalar() < 1e-6);
    assert!(outcome.record.epoch_losses.len() == 1 && outcome.record.n_steps == 1);
}

#[test]
fn the_fixed_views_do_not_depend_on_the_method() {
    let samples = points();
    let at_start = |objective| {
        let stream = format!("{objective:?}");
        let outcome = train_on(&stream, &samples, objective, &settings(), 5).unwrap();
        outcome.record.evaluations[0].risk
    };
    for objective in OBJECTIVES {
        assert_eq!(at_start(objective), at_start(Objective::Corrected));
    }
}

#[test]
fn stopping_rules_stop() {
    let samples = points();
    let stopped = |stop, learning_rate| {
        let settings = TrainingSettings {
            epochs: 400,
            patience: 3,
            stop,
            learning_rate,
            ..settings()
        };
        train(&samples, Objective::Corrected, &settings, 1)
            .unwrap()
            .record
    };
    // With a rate of nearly 0 the risk stays where it is, and so do not the noisy losses.
    let by_risk = stopped(StopRule::ExactRisk, 1e-30);
    assert_eq!(by_risk.n_epochs(), 3);
    let by_loss = stopped(StopRule::TrainingLoss, 3e-3);
    let lowest = by_loss.lowest_loss_epoch(3).unwrap();
    assert_eq!(by_loss.n_epochs(), lowest + 3);
    assert!(by_loss.n_epochs() < 400);
}

#[test]
fn a_loss_that_is_not_finite_names_step_and_seed() {
    let mut samples = points();
    samples[70][2] = f32::NAN;
    // The evaluation before the first step meets it.
    let error = train(&samples, Objective::Corrected, &settings(), 8).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("step 0") && text.contains("seed 8") && text.contains("NaN"),
        "{text}"
    );

    let settings = TrainingSettings {
        optimizer: UpdateRule::Sgd,
        learning_rate: 1e60,
        ..settings()
    };
    let error = train(&points(), Objective::Corrected, &settings, 8).unwrap_err();
    assert!(
        matches!(
            error,
            TrainError::NonFinite {
                step: 1..,
                seed: 8,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn an_encoder_without_parameters_to_train_is_an_error() {
    let increment = increment();
    let samples = points();
    let settings = settings();
    let trainer = trainer(&samples, &increment, &settings, 1);
    let frozen = start().no_grad();
    let error = trainer.train(Objective::Corrected, frozen, "update", &mut |_| ());
    assert!(matches!(error, Err(TrainError::NothingToTrain)));
}

#[derive(Module, Debug)]
struct Lazy<B: Backend> {
    layer: burn::nn::Linear<B>,
}

impl<B: Backend> Encoder<B> for Lazy<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, batch: Tensor<B, 2>, _mode: Mode<'_>) -> Tensor<B, 2> {
        self.layer.forward(batch)
    }
}

/// Burn draws the parameters of its own layers at their first use, and each clone draws others: the
/// average would begin elsewhere than the encoder.
#[test]
fn lazily_drawn_parameters_are_drawn_once() {
    let (increment, samples) = (increment(), points());
    let settings = TrainingSettings {
        learning_rate: 1e-30,
        average_decay: 0.9,
        ..settings()
    };
    let trainer = trainer(&samples, &increment, &settings, 1);
    let encoder = Lazy {
        layer: burn::nn::LinearConfig::new(4, 4).init(&Default::default()),
    };
    let outcome = trainer
        .train(Objective::Corrected, encoder, "update", &mut |_| ())
        .unwrap();
    let risks: Vec<f64> = outcome
        .record
        .evaluations
        .iter()
        .map(|e| e.risk.all)
        .collect();
    assert!(risks.iter().all(|risk| *risk == risks[0]), "{risks:?}");
}

struct Torn(Vec<[f32; 4]>);

impl Samples for Torn {
    type Sample = [f32; 4];

    fn n_samples(&self) -> usize {
        self.0.len()
    }

    fn sample(&self, index: usize) -> Result<Cow<'_, [f32; 4]>, SampleError> {
        if index == 77 {
            return Err("record 77 is torn".into());
        }
        Ok(Cow::Borrowed(&self.0[index]))
    }
}

#[test]
fn an_unreadable_sample_is_an_error() {
    let error = train(&Torn(points()), Objective::Corrected, &settings(), 1).unwrap_err();
    assert_eq!(error.to_string(), "a sample could not be read");
    let cause = std::error::Error::source(&error).expect("a cause");
    assert_eq!(cause.to_string(), "record 77 is torn");
}

#[test]
fn an_increment_beyond_the_data_is_an_error() {
    let mut samples = points();
    samples.truncate(80);
    let error = train(&samples, Objective::Corrected, &settings(), 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the increment: found sample 80, expected an index below 80"
    );
}

#[test]
fn wrong_settings_are_rejected() {
    let check = |change: fn(&mut TrainingSettings)| {
        let mut settings = settings();
        change(&mut settings);
        train(&points(), Objective::Corrected, &settings, 1)
            .unwrap_err()
            .to_string()
    };
    assert!(check(|s| s.temperature = 0.0).starts_with("temperature: found 0"));
    assert!(check(|s| s.negatives = -1.0).starts_with("negatives: found -1"));
    assert!(check(|s| s.learning_rate = f64::NAN).starts_with("learning_rate: found NaN"));
    assert!(check(|s| s.batch_size = 3).starts_with("batch_size: found 3"));
    assert!(check(|s| s.epochs = 0).starts_with("epochs: found 0"));
    assert!(check(|s| s.evaluate_every = Some(0)).starts_with("evaluate_every: found 0"));
    assert!(check(|s| s.average_decay = 1.0).starts_with("average_decay: found 1"));
}

#[test]
fn the_average_is_what_is_evaluated_and_handed_out() {
    let samples = points();
    let settings = TrainingSettings {
        average_decay: 0.9,
        ..settings()
    };
    let outcome = train(&samples, Objective::Corrected, &settings, 1).unwrap();
    // Without the average the same steps end elsewhere.
    let last = TrainingSettings {
        average_decay: 0.0,
        ..settings.clone()
    };
    let last = train(&samples, Objective::Corrected, &last, 1).unwrap();
    assert_eq!(outcome.record.epoch_losses, last.record.epoch_losses);
    let difference = outcome.encoder.weight.val() - last.encoder.weight.val();
    assert!(difference.abs().max().into_scalar() > 1e-4);
    let increment = increment();
    let trainer = trainer(&samples, &increment, &settings, 1);
    let trained: Linear<TestBackend> = outcome.trained.valid();
    assert_eq!(
        trained.weight.val().into_data(),
        outcome.encoder.weight.val().into_data()
    );
    let evaluated = trainer.evaluator().evaluate(outcome.encoder).unwrap();
    assert_eq!(
        Some(evaluated.risk),
        outcome.record.evaluations.last().map(|last| last.risk)
    );
}
