//! Bring your own: own data, own views, own collation and an own encoder out of Burn's stock layers.
//!
//! The data are waves made by a formula: a tone of random phase with one of three overtones, which is
//! the class. The old tones are low, the new ones are high. What connects them to the library are the
//! four parts between `ANCHOR` marks in `views.rs` and `encoder.rs`, of 7 to 17 lines each; this file
//! is the same as for any data.

mod encoder;
#[path = "../../table.rs"]
mod table;
mod views;
mod wave;

use anyhow::{Context, Error, Result};
use burn::backend::{Autodiff, Flex};
use burn::module::AutodiffModule;
use clap::Parser;
use encoder::WaveEncoder;
use icl::core::{Increment, Seed, host_values};
use icl::eval::{KnnProtocolConfig, Matrix, Protocol};
use icl::train::{Problem, Trainer, TrainingSettings, Watch};
use table::Row;
use views::{BeginAnywhere, Stack};
use wave::{LENGTH, Wave};

/// Waves of which half are old and half are new.
const N_WAVES: usize = 800;

/// Updates an own encoder of own data: old tones are low, new ones high
#[derive(Parser)]
struct Arguments {
    /// The most epochs of each training
    #[arg(long, default_value_t = 150)]
    epochs: usize,
    /// What all randomness comes from
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let seed = Seed::new(arguments.seed);
    let device = Default::default();
    let waves = (0..N_WAVES).map(|index| {
        let lowest = if index < N_WAVES / 2 { 2.0 } else { 5.0 };
        Wave::draw(lowest, &mut seed.child("data").at(index as u64).rng())
    });
    let waves: Vec<Wave> = waves.collect();
    let increment =
        Increment::try_new((0..N_WAVES / 2).collect(), (N_WAVES / 2..N_WAVES).collect())?;
    let settings = TrainingSettings {
        epochs: arguments.epochs,
        ..Default::default()
    };
    let trainer = Trainer::<Autodiff<Flex>, _, _, _> {
        problem: Problem {
            samples: &waves,
            views: &BeginAnywhere,
            collate: &Stack,
            increment: &increment,
        },
        settings: &settings,
        seed: arguments.seed,
        device,
    };

    let untrained = WaveEncoder::init(seed.child("init"), &device);
    let first = trainer.pretrain(untrained.clone(), &mut Watch::new())?;
    let update = icl::train::method(icl::train::DEFAULT).context("the registry has its default")?;
    let updated = trainer.train(&update, first.trained.clone(), "update", &mut Watch::new())?;
    let retraining =
        icl::train::method(icl::train::YARDSTICK).context("the registry has its yardstick")?;
    let retrained = trainer.train(&retraining, untrained.clone(), "update", &mut Watch::new())?;

    let evaluator = trainer.evaluator();
    let all: Vec<usize> = (0..N_WAVES).collect();
    let labels: Vec<usize> = waves.iter().map(|wave| wave.class).collect();
    let knn = KnnProtocolConfig::default().try_init()?;
    let accuracy = |features: &Matrix| -> Result<f64> {
        let accuracy = knn.evaluate(features, &labels, seed.child("folds"))?;
        Ok(accuracy.context("the data have a single class")?.mean)
    };
    let measure = |name, encoder: &WaveEncoder<Flex>| -> Result<Row> {
        let measured = evaluator
            .evaluate(encoder.clone())
            .map_err(Error::from_boxed)?;
        let embeddings = evaluator
            .embed(&measured.encoder, &all)
            .map_err(Error::from_boxed)?;
        let width = embeddings.dims()[1];
        let accuracy = accuracy(&Matrix::try_new(host_values(embeddings), width)?)?;
        Ok(Row::new(name, measured.risk, accuracy))
    };
    let rows = [
        measure("untrained", &untrained.valid())?,
        measure("θ₀", &first.encoder)?.after(&first),
        measure("updated", &updated.encoder)?.after(&updated),
        measure("retrained", &retrained.encoder)?.after(&retrained),
    ];
    let raw: Vec<f32> = waves.iter().flat_map(|wave| wave.values).collect();
    let raw = accuracy(&Matrix::try_from_f32(&raw, LENGTH)?)?;
    table::print(
        &rows,
        &[("raw values", raw), ("untrained encoder", rows[0].accuracy)],
    );
    println!(
        "{}",
        table::verdict(&updated.record, &retrained.record, N_WAVES)
    );
    Ok(())
}
