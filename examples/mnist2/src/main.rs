//! The digits 1 and 7: images that come with the library, encoded by ResNet-18.
//!
//! Shows that images take the same four steps as graphs: train θ₀ on the old data, update it by the
//! default method, retrain for comparison, measure all of them in the same way. Only the views, the
//! collation and the encoder are others.

#[path = "../../table.rs"]
mod table;

use anyhow::{Error, Result};
use burn::backend::{Autodiff, Flex};
use burn::module::AutodiffModule;
use clap::Parser;
use icl::core::{GrowthRatio, HostRows, Increment, Samples, Seed};
use icl::data::{ImageCollate, ImageViewsConfig, Split, embedded};
use icl::eval::{KnnProtocolConfig, Matrix};
use icl::models::{ResNet, ResNetConfig};
use icl::train::{Method, Trainer, TrainingSettings};
use rand::seq::SliceRandom;
use table::Row;

type B = Autodiff<Flex>;

/// Updates an encoder of the digits 1 and 7
#[derive(Parser)]
struct Arguments {
    /// The most epochs of each training
    #[arg(long, default_value_t = 40)]
    epochs: usize,
    /// What all randomness comes from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The number of images, of 2000
    #[arg(long, default_value_t = 400)]
    limit: usize,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let data = embedded::images("MNIST-1v7")?.select(&[], Some(arguments.limit))?;
    let seed = Seed::new(arguments.seed);
    let device = Default::default();
    let increment = data.increment(
        Split::Random,
        GrowthRatio::try_new(0.5)?,
        seed.child("data"),
    )?;
    let (n_old, n_new) = (increment.old().len(), increment.new_data().len());
    println!("{}: {n_old} old images, {n_new} new ones", data.name());

    // A mirrored digit is none.
    let views = ImageViewsConfig::new(28).with_flip(0.0).init();
    let settings = TrainingSettings {
        epochs: arguments.epochs,
        ..Default::default()
    };
    let trainer = Trainer::<B, _, _, _>::new(&data, &views, ImageCollate, &increment)
        .settings(settings)
        .seed(arguments.seed);

    // Yesterday: θ₀, from the old data alone.
    let config = ResNetConfig::new(data.channels()).with_projection(Some(64));
    let untrained: ResNet<B> = config.init(seed.child("init"), &device);
    let first = trainer.pretrain(untrained.clone())?;
    // Today: the new data are there.
    let updated = trainer.update(&Method::icl(), first.trained.clone())?;
    // What it would have cost without θ₀.
    let retrained = trainer.update(&Method::retraining(), untrained.clone())?;

    // All are measured on the same views and the same folds.
    let evaluator = trainer.evaluator();
    let accuracy = |features: &Matrix| few_labels(features, data.labels(), seed.child("labels"));
    let judge = |_: &Increment, (embeddings, width): HostRows, _: HostRows| {
        Ok(accuracy(&Matrix::try_new(embeddings, width)?)?)
    };
    let measure = |name, encoder: &ResNet<Flex>| -> Result<(Row, f64)> {
        let measured = evaluator.measure(&judge, encoder.clone(), untrained.valid());
        let measured = measured.map_err(Error::from_boxed)?;
        Ok((
            Row::new(name, measured.risk, measured.judgement),
            measured.judgement,
        ))
    };
    let (row, floor) = measure("untrained", &untrained.valid())?;
    let rows = [
        row,
        measure("θ₀", &first.encoder)?.0.after(&first),
        measure("updated", &updated.encoder)?.0.after(&updated),
        measure("retrained", &retrained.encoder)?
            .0
            .after(&retrained),
    ];
    // The floor: the pixels themselves.
    let mut pixels = Vec::new();
    for index in 0..data.n_images() {
        let image = data.sample(index).map_err(Error::from_boxed)?;
        pixels.extend(image.pixels().iter().map(|&value| f32::from(value)));
    }
    let raw = accuracy(&Matrix::try_from_f32(
        &pixels,
        pixels.len() / data.n_images(),
    )?)?;
    table::print(&rows, &[("raw pixels", raw), ("untrained encoder", floor)]);
    println!("{}", table::verdict(&updated.record, &retrained.record));
    Ok(())
}

/// The accuracy of the nearest neighbour (by cosine similarity) where five samples of each class have a
/// label and all others are asked for: the mean over 100 draws of the labelled ones. With labels for
/// all, pixels alone tell a 1 from a 7.
fn few_labels(features: &Matrix, labels: &[usize], seed: Seed) -> Result<f64> {
    const N_LABELLED: usize = 5;
    const N_DRAWS: u64 = 100;
    let nearest = KnnProtocolConfig::default().with_k(1).try_init()?;
    let mut sum = 0.0;
    for draw in 0..N_DRAWS {
        let mut order: Vec<usize> = (0..labels.len()).collect();
        order.shuffle(&mut seed.at(draw).rng());
        let mut n_of_class = [0; 2];
        let (labelled, asked): (Vec<usize>, Vec<usize>) = order.into_iter().partition(|&sample| {
            n_of_class[labels[sample]] += 1;
            n_of_class[labels[sample]] <= N_LABELLED
        });
        let of = |samples: &[usize]| -> Vec<usize> { samples.iter().map(|&s| labels[s]).collect() };
        sum += nearest.accuracy(
            &features.select(&labelled),
            &of(&labelled),
            &features.select(&asked),
            &of(&asked),
        );
    }
    Ok(sum / N_DRAWS as f64)
}
