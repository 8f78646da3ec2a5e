//! Training by several members, and with batches in shards, against one process with whole batches.

mod devices;
mod failures;
mod gradients;
mod runs;

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use burn::module::{Module, Param};
use burn::tensor::backend::Backend;
use burn::tensor::{DType, Tensor, TensorData};
use icl_core::testing::{TestAutodiff, assert_close, precisions, to_vec};
use icl_core::{
    Alone, Catalogue, Encoder, Group, Increment, Mode, PairEmbeddings, SampleError, Samples, Seed,
    Threads,
};
use icl_meta::RateChoice;
use icl_train::{
    Callbacks, Method, NoiseSet, Outcome, Sampling, TrainError, TrainErrorKind, TrainingSettings,
    UpdateRule,
};
use rand::RngExt;

use crate::toy::{
    Linear, corrected, distillation, increment, info_nce, meta, points, published, settings, start,
    timeless, trainer,
};

/// Linear encoder of the toy problem in a precision of its own.
#[derive(Module, Debug)]
struct Precise<B: Backend> {
    weight: Param<Tensor<B, 2>>,
}

impl<B: Backend> Encoder<B> for Precise<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, batch: Tensor<B, 2>, _mode: Mode<'_>) -> Tensor<B, 2> {
        let weight = self.weight.val();
        batch.cast(weight.dtype()).matmul(weight)
    }
}

/// Draws the same encoder at every call, with other identities of its parameters, as in another process.
fn precise(dtype: DType) -> Precise<TestAutodiff> {
    let mut rng = Seed::new(3).rng();
    let weight: Vec<f64> = (0..16).map(|_| rng.random::<f64>() - 0.5).collect();
    let data = TensorData::new(weight, [4, 4]);
    let weight = Tensor::from_data(data, (&Default::default(), dtype));
    Precise {
        weight: Param::from_tensor(weight),
    }
}

/// Runs a function at every member, and returns the results in the order of the ranks.
fn at_all<T: Send>(size: usize, run: impl Fn(&dyn Group) -> T + Sync) -> Vec<T> {
    let run = &run;
    std::thread::scope(|scope| {
        let members = Threads::group(size).into_iter();
        let threads: Vec<_> = members
            .map(|member| scope.spawn(move || run(&member)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

type Trained<M> = Result<Outcome<M, TestAutodiff>, TrainError>;

/// Trains one member by Adam.
fn train<M>(
    group: &dyn Group,
    method: &Method,
    settings: &TrainingSettings,
    encoder: M,
) -> Trained<M>
where
    M: burn::module::AutodiffModule<TestAutodiff>
        + Encoder<TestAutodiff, Batch = Tensor<TestAutodiff, 2>>,
    M::InnerModule:
        Encoder<icl_core::testing::TestBackend, Batch = Tensor<icl_core::testing::TestBackend, 2>>,
{
    let (samples, increment) = (points(), increment());
    let trainer = trainer(&samples, &increment, settings, 4).group(group);
    trainer.update(method, encoder)
}

/// Trains one member by gradient descent.
fn descend<M>(
    group: &dyn Group,
    method: &Method,
    settings: &TrainingSettings,
    encoder: M,
) -> Trained<M>
where
    M: burn::module::AutodiffModule<TestAutodiff>
        + Encoder<TestAutodiff, Batch = Tensor<TestAutodiff, 2>>,
    M::InnerModule:
        Encoder<icl_core::testing::TestBackend, Batch = Tensor<icl_core::testing::TestBackend, 2>>,
{
    let (samples, increment) = (points(), increment());
    let trainer = trainer(&samples, &increment, settings, 4).group(group);
    trainer.update_rule(UpdateRule::Sgd).update(method, encoder)
}

/// Settings of one step of gradient descent, whose change is the gradient.
fn one_step() -> TrainingSettings {
    TrainingSettings {
        epochs: 1,
        batch_size: 90,
        learning_rate: 1.0,
        ..settings()
    }
}

fn chunked(settings: &TrainingSettings, chunk: usize) -> TrainingSettings {
    TrainingSettings {
        chunk: Some(chunk),
        ..settings.clone()
    }
}

fn weight(outcome: &Trained<Precise<TestAutodiff>>) -> Vec<f64> {
    to_vec(&outcome.as_ref().unwrap().trained.weight.val())
}

/// Every objective with its settings.
fn objectives(of: &TrainingSettings) -> Vec<(Method, TrainingSettings)> {
    let both = TrainingSettings {
        noise_set: NoiseSet::BothViews,
        ..of.clone()
    };
    vec![
        (info_nce(Sampling::All), of.clone()),
        (info_nce(Sampling::All), both),
        (info_nce(Sampling::New), of.clone()),
        (published(), of.clone()),
        (corrected(), of.clone()),
        (distillation(), of.clone()),
    ]
}
