//! Burn's own `Learner` trains an encoder of one's own: AdamW, a composed schedule, metrics, early stopping and
//! checkpoints.
//!
//! The data are waves made by a formula, three quarters of them old (low tones) and a quarter new (high tones).

mod quiet;
mod wave;

use std::path::Path;

use anyhow::{Error, Result, bail};
use burn::backend::{Autodiff, Flex};
use burn::data::dataloader::DataLoaderBuilder;
use burn::data::dataset::InMemDataset;
use burn::lr_scheduler::composed::{ComposedLrScheduler, ComposedLrSchedulerConfig};
use burn::lr_scheduler::{
    cosine::CosineAnnealingLrSchedulerConfig, linear::LinearLrSchedulerConfig,
};
use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::optim::AdamWConfig;
use burn::record::{DefaultFileRecorder, FullPrecisionSettings};
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, activation::gelu};
use burn::train::checkpoint::KeepLastNCheckpoints;
use burn::train::metric::{LossMetric, store::Split};
use burn::train::{InferenceStep, Learner, LearnerSummary, SupervisedTraining};
use clap::Parser;
use icl::core::exact_risk;
use icl::prelude::*;
use icl::train::{
    ContrastiveStep, ContrastiveStepConfig, GainEarlyStoppingStrategy, LossKind, OriginBatcher,
    PairBatcher, PairMetric,
};
use wave::{LENGTH, Wave, draw, view};

type B = Autodiff<Flex>;

/// Temperature τ and number of negatives K, the same for the loss and for the metrics.
const TEMPERATURE: f64 = 0.1;
const NEGATIVES: f64 = 31.0;

/// Trains an encoder of waves by Burn's Learner
#[derive(Parser)]
struct Arguments {
    /// Maximum number of epochs, which early stopping may end before
    #[arg(long, default_value_t = 60)]
    epochs: usize,
    /// Seed of all randomness
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The encoder: any module of Burn with an `encode`.
#[derive(Module, Debug)]
struct WaveEncoder<B: Backend> {
    first: Linear<B>,
    second: Linear<B>,
}

impl<B: Backend> WaveEncoder<B> {
    fn new(device: &B::Device) -> Self {
        Self {
            first: LinearConfig::new(LENGTH, 64).init(device),
            second: LinearConfig::new(64, 16).init(device),
        }
    }
}

impl<B: Backend> Encoder<B> for WaveEncoder<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, waves: Tensor<B, 2>, _: Mode<'_>) -> Tensor<B, 2> {
        self.second.forward(gelu(self.first.forward(waves)))
    }
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let seed = Seed::new(arguments.seed);
    let waves = |name: &str, n: usize| -> Vec<(Wave, Origin)> {
        let mut rng = seed.child(name).rng();
        let origin = |at| match 4 * at < 3 * n {
            true => Origin::Old,
            false => Origin::New,
        };
        (0..n)
            .map(|at| (draw(origin(at), &mut rng), origin(at)))
            .collect()
    };
    let pairs = |name: &str| PairBatcher::new(Augment::new(view), Stack, seed.child(name));
    let training = DataLoaderBuilder::new(OriginBatcher(pairs("views")))
        .batch_size(64)
        .shuffle(seed.child("order").value())
        .build(InMemDataset::new(waves("waves", 512)));
    // One batch of all held-out waves, always the same views: the metrics are exact over it.
    let validation = DataLoaderBuilder::new(OriginBatcher(pairs("held-out views").fixed()))
        .batch_size(256)
        .build(InMemDataset::new(waves("held-out waves", 256)));

    let device = Default::default();
    B::seed(&device, seed.child("init").value());
    let model: ContrastiveStep<B, _> = ContrastiveStepConfig::new()
        .with_loss(LossKind::Corrected)
        .with_temperature(TEMPERATURE)
        .with_negatives(NEGATIVES)
        .init(WaveEncoder::new(&device));
    let risk = PairMetric::exact_risk(None, TEMPERATURE, NEGATIVES);
    let stop = GainEarlyStoppingStrategy::new(&risk, Split::Valid, 0.1).with_warmup_epochs(2);
    let change_ratio = PairMetric::change_ratio(TEMPERATURE, NEGATIVES);
    let recorder = DefaultFileRecorder::<FullPrecisionSettings>::new();
    let optimizer = AdamWConfig::new().with_weight_decay(0.01).init();
    let folder = tempfile::tempdir()?;
    let trained = SupervisedTraining::new(folder.path(), training, validation.clone())
        .metrics((LossMetric::new(), risk, PairMetric::auc(None), change_ratio))
        .num_epochs(arguments.epochs)
        .early_stopping(stop)
        .with_file_checkpointer(recorder.clone())
        // Burn's default keeps the best of an epoch's metric, too, which it may read before the epoch is complete.
        .with_checkpointing_strategy(KeepLastNCheckpoints::new(1))
        .with_application_logger(None)
        .renderer(quiet::Quiet)
        .launch(Learner::new(model, optimizer, rates(arguments.epochs)?))
        .model;

    let n_epochs = print_epochs(folder.path())?;
    println!(
        "ended after {n_epochs} of at most {} epochs",
        arguments.epochs
    );

    // The last checkpoint holds the encoder that training returned.
    let file = folder.path().join(format!("checkpoint/model-{}", n_epochs));
    let loaded = trained.clone().load_file(file, &recorder, &device)?;
    for batch in validation.iter() {
        let n_old = batch.n_old;
        let of = InferenceStep::step(&loaded, batch).pairs;
        let risk = exact_risk(of.anchors, of.positives, n_old, TEMPERATURE, NEGATIVES);
        println!(
            "exact risk of the checkpoint: {:.4} nats, old {:.4}, new {:.4}",
            risk.all, risk.old, risk.new
        );
    }
    println!(
        "an encoder of {} values",
        trained.into_encoder().num_params()
    );
    Ok(())
}

/// Creates a warm-up of two epochs of eight steps, times a cosine over all epochs.
fn rates(n_epochs: usize) -> Result<ComposedLrScheduler> {
    ComposedLrSchedulerConfig::new()
        .linear(LinearLrSchedulerConfig::new(0.1, 1.0, 16))
        .cosine(CosineAnnealingLrSchedulerConfig::new(0.01, 8 * n_epochs))
        .init()
        .map_err(Error::msg)
}

/// Prints the held-out metrics of each epoch from Burn's log files, and returns the number of epochs.
fn print_epochs(folder: &Path) -> Result<usize> {
    let names = ["Exact risk", "AUC", "Change ratio"];
    let summary = LearnerSummary::new(folder, &names).map_err(Error::msg)?;
    println!("epoch  exact risk     AUC  change ratio");
    let of = |name| {
        summary
            .metrics
            .valid
            .iter()
            .find(|metric| metric.name == name)
    };
    let [Some(risks), Some(aucs), Some(ratios)] = names.map(of) else {
        bail!("a metric has no values in {}", folder.display());
    };
    for ((risk, auc), ratio) in risks.entries.iter().zip(&aucs.entries).zip(&ratios.entries) {
        let (epoch, risk, auc, ratio) = (risk.step, risk.value, auc.value, ratio.value);
        println!("{epoch:>5} {risk:>11.4} {auc:>7.4} {ratio:>13.4}");
    }
    Ok(summary.epochs)
}
