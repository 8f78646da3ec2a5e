//! Updates an encoder of your own on data of your own, with your own views and collation.
//!
//! The data are waves made by a formula: a tone of random phase with one of three overtones, which is
//! the class. The old tones are low, the new ones are high. Four parts between `ANCHOR` marks in
//! `views.rs` and `encoder.rs`, of 7 to 17 lines each, connect them to the library; this file is the
//! same as for any data.

mod encoder;
#[path = "../../table.rs"]
mod table;
mod views;
mod wave;

use anyhow::Result;
use burn::backend::{Autodiff, Flex};
use clap::Parser;
use encoder::WaveEncoder;
use icl::eval::{Accuracies, KnnProtocolConfig, Matrix};
use icl::prelude::*;
use views::{BeginAnywhere, Stack};
use wave::{LENGTH, Wave};

/// Waves of which half are old and half are new.
const N_WAVES: usize = 800;

/// Updates an own encoder of own data: old tones are low, new ones high
#[derive(Parser)]
struct Arguments {
    /// Maximum number of epochs of each training
    #[arg(long, default_value_t = 150)]
    epochs: usize,
    /// Seed of all randomness
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
    let trainer = Trainer::<Autodiff<Flex>, _, _, _>::new(&waves, BeginAnywhere, Stack, &increment)
        .settings(settings)
        .seed(arguments.seed);

    let untrained = WaveEncoder::init(seed.child("init"), &device);
    let first = trainer.pretrain(untrained.clone())?;
    let updated = trainer.update(&Method::icl(), first.trained.clone())?;
    let (theta0, fresh) = (first.trained.clone(), Some(untrained.clone()));
    let retrained =
        trainer.update_with(&Method::retraining(), theta0, fresh, &mut Callbacks::new())?;

    let labels: Vec<usize> = waves.iter().map(|wave| wave.class).collect();
    let knn = KnnProtocolConfig::default().try_init()?;
    let raw: Vec<f32> = waves.iter().flat_map(|wave| wave.values).collect();
    let raw = Matrix::try_from_f32(&raw, LENGTH)?;
    let accuracies = Accuracies::new(&knn, &labels, seed.child("folds")).with_raw(&raw);
    table::print(
        &trainer,
        (&accuracies, "values"),
        &untrained,
        &first,
        [&updated, &retrained],
    )
}
