//! Faults that a user's crate makes, with an encoder of Burn's own layers: each is an error or a warning that says what is wrong.

#![allow(clippy::unwrap_used, reason = "a failed test says enough")]

mod arguments;
mod checkpoints;
mod frozen;
mod groups;
mod mode;
mod numbers;
mod shapes;
mod starts;
mod statistics;
mod teacher;

use burn::backend::{Autodiff, Flex};
use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::nn::{BatchNorm, BatchNormConfig, Dropout, DropoutConfig, Linear, LinearConfig};
use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl::core::{Batches, SampleError, host_values};
use icl::models::recalibrate_batch_norm;
use icl::prelude::*;
use icl::train::{Callbacks, StopRule, TrainErrorKind};
use rand::RngExt;

type B = Autodiff<Flex>;

/// Encoder of Burn's own layers: a linear map, batch normalisation, dropout and another linear map.
#[derive(Module, Debug)]
struct Stock<B: Backend> {
    first: Linear<B>,
    norm: BatchNorm<B>,
    dropout: Dropout,
    last: Linear<B>,
}

impl<B: Backend> Stock<B> {
    fn new(dropout: f64) -> Self {
        let device = Default::default();
        let linear = |d_in, d_out| {
            LinearConfig::new(d_in, d_out)
                .with_bias(false)
                .init(&device)
        };
        let encoder = Self {
            first: linear(4, 8),
            norm: BatchNormConfig::new(8).init(&device),
            dropout: DropoutConfig::new(dropout).init(),
            last: linear(8, 4),
        };
        // Burn draws from one generator for all tests of this process.
        encoder.map(&mut Drawn(icl::core::Seed::new(7).rng()))
    }

    fn forward(&self, batch: Tensor<B, 2>) -> Tensor<B, 2> {
        let hidden = self.norm.forward(self.first.forward(batch));
        self.last.forward(self.dropout.forward(hidden))
    }
}

impl<B: Backend> Encoder<B> for Stock<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, batch: Tensor<B, 2>, _mode: Mode<'_>) -> Tensor<B, 2> {
        self.forward(batch)
    }

    fn recalibrated(self, batches: &Batches<'_, Tensor<B, 2>>) -> Result<Self, SampleError> {
        recalibrate_batch_norm(self, batches, |encoder, batch| {
            encoder.forward(Tensor::from_inner(batch))
        })
    }
}

/// Draws all matrices.
struct Drawn(Rng);

impl<B: Backend> ModuleMapper<B> for Drawn {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        if D != 2 {
            return param;
        }
        param.map(|matrix| {
            let n = matrix.shape().num_elements();
            let drawn: Vec<f32> = (0..n).map(|_| self.0.random::<f32>() - 0.5).collect();
            let data = TensorData::new(drawn, matrix.shape());
            Tensor::from_data(data, &matrix.device()).require_grad()
        })
    }
}

/// Values of all float parameters and running statistics of a module, in its order.
fn values<B: Backend, M: Module<B>>(module: &M) -> Vec<f64> {
    struct Values(Vec<f64>);
    impl<B: Backend> ModuleVisitor<B> for Values {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
            self.0.extend(host_values(param.val()));
        }
    }
    let mut values = Values(Vec::new());
    module.visit(&mut values);
    values.0
}

/// Draws 60 old points, and 30 new ones from another region.
fn points(seed: u64) -> Vec<[f32; 4]> {
    let mut rng = icl::core::Seed::new(seed).rng();
    let point = |at| {
        let centre = if at < 60 { 0.0 } else { 0.7 };
        std::array::from_fn(|_| rng.random::<f32>() * 2.0 - 1.0 + centre)
    };
    (0..90).map(point).collect()
}

fn increment() -> Increment {
    Increment::try_new((0..60).collect(), (60..90).collect()).unwrap()
}

/// Views with noise of this size.
fn jitter(size: f32) -> impl Views<Sample = [f32; 4], View = [f32; 4]> {
    Augment::new(move |x: &[f32; 4], rng: &mut Rng| {
        x.map(|x| x + size * (rng.random::<f32>() - 0.5))
    })
}

fn settings() -> TrainingSettings {
    TrainingSettings {
        epochs: 4,
        batch_size: 16,
        stop: StopRule::Never,
        ..Default::default()
    }
}

/// Returns the trainer of some samples, with noise of size 0.3.
fn trainer<'a, S>(
    samples: &'a S,
    increment: &'a Increment,
) -> Trainer<'a, B, S, impl Views<Sample = [f32; 4], View = [f32; 4]>, Stack> {
    Trainer::new(samples, jitter(0.3), Stack, increment).settings(settings())
}

/// Interrupts a training with a checkpoint at every second question, and continues it until it is complete.
fn interrupted<T>(train: impl Fn(&mut Callbacks<'_>) -> Result<T, TrainError>) -> T {
    let folder = tempfile::tempdir().unwrap();
    let mut n_runs = 0;
    loop {
        let taken = std::cell::Cell::new(0);
        let mut callbacks = Callbacks::new()
            .with_checkpoint(folder.path().join("run"))
            .stop_when(|| {
                taken.set(taken.get() + 1);
                taken.get() >= 2
            });
        n_runs += 1;
        match train(&mut callbacks) {
            Err(error) if matches!(error.kind(), TrainErrorKind::Interrupted { .. }) => {}
            outcome => {
                assert!(n_runs > 4, "{n_runs}");
                return outcome.unwrap();
            }
        }
    }
}
