//! Keeps an encoder of images up to date: of the digits 1 and 7 that come with the library, or of a folder of
//! photographs.
//!
//! Images take the same four steps as graphs, with other views, another collation and another encoder, ResNet-18. The
//! files of a folder are decoded when they are needed, and the encoder may start from weights that torchvision trained.

#[path = "../../table.rs"]
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Error, Result};
use burn::backend::{Autodiff, Flex};
use clap::Parser;
use icl::data::{
    DataError, ImageCollate, ImageDataset, ImageOptions, ImageViewsConfig, Split, embedded,
    read_images,
};
use icl::eval::{Accuracies, FewLabelsConfig, Matrix};
use icl::models::{ResNet, ResNetConfig};
use icl::prelude::*;

type B = Autodiff<Flex>;

/// Updates an encoder of images
#[derive(Parser)]
struct Arguments {
    /// Folder with a folder of images for each class. Without it, the embedded digits 1 and 7
    folder: Option<PathBuf>,
    /// Maximum number of epochs of each training
    #[arg(long, default_value_t = 40)]
    epochs: usize,
    /// Seed of all randomness
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Maximum number of images
    #[arg(long, default_value_t = 400)]
    limit: usize,
    /// Learning rate
    #[arg(long, default_value_t = TrainingSettings::default().learning_rate)]
    learning_rate: f64,
    /// Side of a view in pixels; 224 in the paper
    #[arg(long, default_value_t = 28)]
    size: usize,
    /// Weights of torchvision's resnet18 to begin with, as .pth or .safetensors
    #[arg(long)]
    weights: Option<PathBuf>,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    match read(&arguments) {
        Ok(data) => compare(&data, &arguments)?,
        Err(error) => {
            eprintln!("{error}");
            return Ok(ExitCode::from(2));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn read(arguments: &Arguments) -> Result<ImageDataset, DataError> {
    let limit = Some(arguments.limit);
    match &arguments.folder {
        Some(folder) => read_images(
            folder,
            &ImageOptions {
                limit,
                ..Default::default()
            },
        ),
        None => embedded::images("MNIST-1v7")?.select(&[], limit),
    }
}

fn compare(data: &ImageDataset, arguments: &Arguments) -> Result<()> {
    let seed = Seed::new(arguments.seed);
    let alpha = GrowthRatio::try_new(0.5)?;
    let increment = data.increment(Split::Random, alpha, seed.child("data"))?;
    let (n_old, n_new) = (increment.old().len(), increment.new_data().len());
    println!("{}: {n_old} old images, {n_new} new ones", data.name());

    // A mirrored digit is no digit.
    let flip = if arguments.folder.is_some() { 0.5 } else { 0.0 };
    let views = ImageViewsConfig::new(arguments.size)
        .with_flip(flip)
        .try_init()?;
    let settings = TrainingSettings {
        epochs: arguments.epochs,
        learning_rate: arguments.learning_rate,
        ..Default::default()
    };
    let trainer = Trainer::<B, _, _, _>::new(data, &views, ImageCollate, &increment)
        .settings(settings)
        .seed(arguments.seed);

    let config = ResNetConfig::new(data.channels()).with_projection(Some(64));
    let mut untrained: ResNet<B> = config.init(seed.child("init"), &Default::default());
    if let Some(weights) = &arguments.weights {
        untrained = untrained.with_torchvision_weights(weights)?;
    }
    let first = trainer.pretrain(untrained.clone())?;
    let updated = trainer.update(&Method::icl(), first.trained.clone())?;
    let (theta0, fresh) = (first.trained.clone(), Some(untrained.clone()));
    let retrained =
        trainer.update_with(&Method::retraining(), theta0, fresh, &mut Callbacks::new())?;

    // Five labels a class: with labels for all images, pixels alone distinguish a 1 from a 7.
    let protocol = FewLabelsConfig::default().with_n_draws(100).try_init()?;
    let mut pixels = Vec::new();
    for index in 0..data.n_images() {
        let image = data.sample(index).map_err(Error::from_boxed)?;
        pixels.extend_from_slice(views.plain(&image).values());
    }
    let raw = Matrix::try_from_f32(&pixels, pixels.len() / data.n_images())?;
    let accuracies = Accuracies::new(&protocol, data.labels(), seed.child("labels")).with_raw(&raw);
    table::print(
        &trainer,
        (&accuracies, "pixels"),
        &untrained,
        &first,
        [&updated, &retrained],
    )
}
