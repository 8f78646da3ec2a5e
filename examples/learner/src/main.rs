//! Burn's own `Learner` trains an encoder of one's own: AdamW, a composed schedule, metrics, early stopping and
//! checkpoints.
//!
//! The data are waves made by a formula, three quarters of them old (low tones) and a quarter new (high tones).

mod quiet;
mod wave;

use std::sync::atomic::AtomicU64;

use anyhow::{Error, Result};
use burn::backend::{Autodiff, Flex};
use burn::data::dataloader::DataLoaderBuilder;
use burn::data::dataset::InMemDataset;
use burn::lr_scheduler::composed::ComposedLrSchedulerConfig;
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
use icl::core::{Encoder, Mode, Seed, exact_risk};
use icl::train::{
    ContrastiveStep, ContrastiveStepConfig, GainEarlyStoppingStrategy, LossKind, PairMetric,
};
use wave::{LENGTH, Pairs, Wave};

type B = Autodiff<Flex>;

/// Temperature τ and number of negatives K, the same for the loss and for the metrics.
const TEMPERATURE: f64 = 0.1;
const NEGATIVES: f64 = 31.0;

/// Trains an encoder of waves by Burn's Learner
#[derive(Parser)]
struct Arguments {
    /// Maximum number of epochs, which early stopping may end before
    #[arg(long, default_value_t = 100)]
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

impl<B: Backend> Encoder<B> for WaveEncoder<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, waves: Tensor<B, 2>, _: Mode<'_>) -> Tensor<B, 2> {
        self.second.forward(gelu(self.first.forward(waves)))
    }
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let seed = Seed::new(arguments.seed);
    let waves = |name: &str, n: usize| -> Vec<Wave> {
        let mut rng = seed.child(name).rng();
        (0..n)
            .map(|at| Wave::draw(4 * at < 3 * n, &mut rng))
            .collect()
    };
    let pairs = |name: &str, n_batches| Pairs {
        seed: seed.child(name),
        n_batches,
    };
    let training = DataLoaderBuilder::new(pairs("views", Some(AtomicU64::new(0))))
        .batch_size(64)
        .shuffle(seed.child("order").value())
        .build(InMemDataset::new(waves("waves", 512)));
    // One batch of all held-out waves, always the same views: the metrics are exact over it.
    let validation = DataLoaderBuilder::new(pairs("held-out views", None))
        .batch_size(256)
        .build(InMemDataset::new(waves("held-out waves", 256)));

    let device = Default::default();
    B::seed(&device, seed.child("init").value());
    let encoder = WaveEncoder {
        first: LinearConfig::new(LENGTH, 64).init(&device),
        second: LinearConfig::new(64, 16).init(&device),
    };
    let loss = ContrastiveStepConfig::new()
        .with_loss(LossKind::Corrected)
        .with_temperature(TEMPERATURE)
        .with_negatives(NEGATIVES);
    let model: ContrastiveStep<B, _> = loss.init(encoder);

    // A warm-up of two epochs of eight steps, times a cosine.
    let rates = ComposedLrSchedulerConfig::new()
        .linear(LinearLrSchedulerConfig::new(0.1, 1.0, 16))
        .cosine(CosineAnnealingLrSchedulerConfig::new(
            0.01,
            16 * arguments.epochs,
        ))
        .init()
        .map_err(Error::msg)?;
    let risk = PairMetric::exact_risk(None, TEMPERATURE, NEGATIVES);
    let stop = GainEarlyStoppingStrategy::new(&risk, Split::Valid, 0.05).with_warmup_epochs(2);
    let change_ratio = PairMetric::change_ratio(TEMPERATURE, NEGATIVES);
    let recorder = DefaultFileRecorder::<FullPrecisionSettings>::new();
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
        .launch(Learner::new(
            model,
            AdamWConfig::new().with_weight_decay(0.01).init(),
            rates,
        ))
        .model;

    let names = ["Exact risk", "AUC", "Change ratio"];
    let summary = LearnerSummary::new(folder.path(), &names).map_err(Error::msg)?;
    println!("epoch  exact risk     AUC  change ratio");
    let metrics = names.map(|name| {
        summary
            .metrics
            .valid
            .iter()
            .find(|metric| metric.name == name)
    });
    let [Some(risks), Some(aucs), Some(ratios)] = metrics else {
        anyhow::bail!("a metric has no values in {}", folder.path().display());
    };
    for ((risk, auc), ratio) in risks.entries.iter().zip(&aucs.entries).zip(&ratios.entries) {
        println!(
            "{:>5} {:>11.4} {:>7.4} {:>13.4}",
            risk.step, risk.value, auc.value, ratio.value
        );
    }
    println!(
        "ended after {} of at most {} epochs",
        summary.epochs, arguments.epochs
    );

    // The last checkpoint holds the encoder that training returned.
    let file = folder
        .path()
        .join(format!("checkpoint/model-{}", summary.epochs));
    let loaded = trained.clone().load_file(file, &recorder, &device)?;
    for batch in validation.iter() {
        let n_old = batch.n_old;
        let output = InferenceStep::step(&loaded, batch).pairs;
        let risk = exact_risk(
            output.anchors,
            output.positives,
            n_old,
            TEMPERATURE,
            NEGATIVES,
        );
        println!(
            "exact risk of the checkpoint: {:.4} nats, old {:.4}, new {:.4}",
            risk.all, risk.old, risk.new
        );
    }
    let encoder = trained.into_encoder();
    println!("an encoder of {} values", encoder.num_params());
    Ok(())
}
