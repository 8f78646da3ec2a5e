//! A small problem with a user's own encoder: a linear encoder of points with four coordinates.

use burn::module::{Module, Param};
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
use icl_core::testing::TestAutodiff;
use icl_core::{Collate, Encoder, Increment, Mode, Rng, Samples, Seed, Views};
use icl_train::{
    Callbacks, LossKind, Method, OptimizerChoice, Outcome, Sampling, StopRule, TrainError, Trainer,
    TrainingRecord, TrainingSettings, UpdateRule,
};
use rand::RngExt;

/// Linear encoder x·W.
#[derive(Module, Debug)]
pub struct Linear<B: Backend> {
    /// Weight W `[4, 4]`.
    pub weight: Param<Tensor<B, 2>>,
}

impl<B: Backend> Linear<B> {
    /// Draws an encoder.
    pub fn new(seed: u64) -> Self {
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

/// Views with a little noise.
pub struct Jitter;

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

/// Collation of one row per view.
pub struct Stack;

impl<B: Backend> Collate<B, [f32; 4], Tensor<B, 2>> for Stack {
    fn collate(&self, views: &[[f32; 4]], device: &B::Device) -> Tensor<B, 2> {
        Tensor::from_data(TensorData::new(views.concat(), [views.len(), 4]), device)
    }
}

/// Draws 60 old points, and 30 new points from another region.
pub fn points() -> Vec<[f32; 4]> {
    let mut rng = Seed::new(9).rng();
    (0..90)
        .map(|at| {
            // New points come from another region than old ones.
            let centre = if at < 60 { 0.0 } else { 0.7 };
            std::array::from_fn(|_| rng.random::<f32>() * 2.0 - 1.0 + centre)
        })
        .collect()
}

/// Returns an increment whose first 60 samples are old.
pub fn increment() -> Increment {
    Increment::try_new((0..60).collect(), (60..90).collect()).expect("two parts")
}

/// Settings of twelve epochs of six steps, with an evaluation after each epoch.
pub fn settings() -> TrainingSettings {
    TrainingSettings {
        epochs: 12,
        batch_size: 16,
        stop: StopRule::Never,
        evaluate_every: Some(1),
        average_decay: Some(0.0),
        ..Default::default()
    }
}

/// Returns NCE-I with a sampling and the plain optimizer.
pub fn info_nce(sampling: Sampling) -> Method {
    Method::new(sampling, LossKind::InfoNce)
}

/// Returns fine-tuning with distillation.
pub fn distillation() -> Method {
    Method::new(Sampling::New, LossKind::InfoNce.with_distillation())
}

/// Returns Eq. 9 as published, with the plain optimizer.
pub fn published() -> Method {
    Method::new(Sampling::Stratified, LossKind::Published)
}

/// Returns Eq. 9 with the dropped term, with the plain optimizer.
pub fn corrected() -> Method {
    Method::new(Sampling::Stratified, LossKind::Corrected)
}

/// Returns the method with meta-optimization as its optimizer.
pub fn meta(method: Method) -> Method {
    Method {
        optimizer: OptimizerChoice::Meta(None),
        ..method
    }
}

/// Creates a trainer of the toy problem.
pub fn trainer<'a, S>(
    samples: &'a S,
    increment: &'a Increment,
    settings: &TrainingSettings,
    seed: u64,
) -> Trainer<'a, TestAutodiff, S, Jitter, Stack> {
    Trainer::new(samples, Jitter, Stack, increment)
        .settings(settings.clone())
        .seed(seed)
}

/// Returns the seed of the views of a sample that has occurred `repetition` times before in an epoch; `epoch`
/// is the seed of the epoch's views.
pub fn own_seed(epoch: Seed, index: usize, repetition: usize) -> Seed {
    let first = epoch.at(index as u64);
    match repetition {
        0 => first,
        n => first.child("repetition").at(n as u64),
    }
}

/// Outcome of a training run.
pub type Trained = Result<Outcome<Linear<TestAutodiff>, TestAutodiff>, TrainError>;

/// Trains by a method. The fresh encoder of a method that needs one is the trained one.
pub fn train_on<S: Samples<Sample = [f32; 4]>>(
    samples: &S,
    method: &Method,
    settings: &TrainingSettings,
    seed: u64,
) -> Trained {
    let none = &mut Callbacks::new();
    trainer(samples, &increment(), settings, seed).update_with(method, start(), Some(start()), none)
}

/// Trains the toy encoder by another optimizer than the default.
pub fn train_by(
    rule: UpdateRule,
    samples: &Vec<[f32; 4]>,
    method: &Method,
    settings: &TrainingSettings,
    seed: u64,
) -> Trained {
    let increment = increment();
    let trainer = trainer(samples, &increment, settings, seed).update_rule(rule);
    trainer.update_with(method, start(), Some(start()), &mut Callbacks::new())
}

/// Returns the same encoder each time, with the same identities of its parameters.
pub fn start() -> Linear<TestAutodiff> {
    static START: std::sync::LazyLock<Linear<TestAutodiff>> =
        std::sync::LazyLock::new(|| Linear::new(1));
    START.clone()
}

/// Returns a record without its timings.
pub fn timeless(mut record: TrainingRecord) -> TrainingRecord {
    record.seconds = Default::default();
    record.epoch_ends_s.clear();
    for evaluation in &mut record.evaluations {
        evaluation.train_s = 0.0;
    }
    record
}
