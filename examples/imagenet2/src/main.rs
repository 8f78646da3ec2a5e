//! Ants and bees, two classes of ImageNet: a folder of photographs, encoded by ResNet-18.
//!
//! Shows how a folder of images is read, decoded when it is needed, and how an encoder starts from
//! weights that torchvision trained (`--weights`). The default size is 64 pixels, so that it runs on
//! a CPU; the paper's is 224 (`--size 224`).

#[path = "../../table.rs"]
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Error, Result};
use burn::backend::{Autodiff, Flex};
use burn::module::AutodiffModule;
use clap::Parser;
use icl::core::{GrowthRatio, Samples, Seed, Views};
use icl::data::{
    ImageCollate, ImageDataset, ImageOptions, ImageViewsConfig, Split, read_images, unpack_tar,
};
use icl::eval::{Accuracies, Accuracy, Judgement, KnnProtocolConfig, Matrix};
use icl::models::{ResNet, ResNetConfig};
use icl::train::{Method, Trainer, TrainingSettings};
use table::Row;

type B = Autodiff<Flex>;

/// Updates an encoder of photographs of ants and bees
#[derive(Parser)]
struct Arguments {
    /// A folder with a folder of images for each class [default: ants-bees/train of
    /// photos/ants-bees-256.tar.gz below ICL_DATA_DIR, else below ../shared/data]
    #[arg(long)]
    data: Option<PathBuf>,
    /// The most epochs of each training
    #[arg(long, default_value_t = 20)]
    epochs: usize,
    /// What all randomness comes from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The most images
    #[arg(long)]
    limit: Option<usize>,
    /// The learning rate
    #[arg(long, default_value_t = 1e-3)]
    learning_rate: f64,
    /// The side of a view in pixels
    #[arg(long, default_value_t = 64)]
    size: usize,
    /// Weights of torchvision's resnet18 to begin with, as .pth or .safetensors
    #[arg(long)]
    weights: Option<PathBuf>,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let folder = std::env::var_os("ICL_DATA_DIR").unwrap_or_else(|| "../shared/data".into());
    let archive = PathBuf::from(folder).join("photos/ants-bees-256.tar.gz");
    let path = arguments.data.as_ref().unwrap_or(&archive);
    if !path.exists() {
        eprintln!(
            "{}: found nothing, expected the photographs; unpack hymenoptera_data.zip from \
             https://download.pytorch.org/tutorial/ and name its folder `train` with --data",
            path.display()
        );
        return Ok(ExitCode::from(2));
    }
    let options = ImageOptions {
        limit: arguments.limit,
        ..Default::default()
    };
    // Images are decoded when they are needed: the unpacked folder stays until the end.
    let unpacked = tempfile::tempdir()?;
    let data = match &arguments.data {
        Some(folder) => read_images(folder, &options)?,
        None => {
            unpack_tar(&archive, unpacked.path())?;
            read_images(unpacked.path().join("ants-bees/train"), &options)?
        }
    };
    compare(&data, &arguments)?;
    Ok(ExitCode::SUCCESS)
}

fn compare(data: &ImageDataset, arguments: &Arguments) -> Result<()> {
    let seed = Seed::new(arguments.seed);
    let device = Default::default();
    let increment = data.increment(
        Split::Random,
        GrowthRatio::try_new(0.5)?,
        seed.child("data"),
    )?;
    let (n_old, n_new) = (increment.old().len(), increment.new_data().len());
    println!("{}: {n_old} old images, {n_new} new ones", data.name());

    let views = ImageViewsConfig::new(arguments.size).try_init()?;
    let settings = TrainingSettings {
        epochs: arguments.epochs,
        learning_rate: arguments.learning_rate,
        ..Default::default()
    };
    let trainer = Trainer::<B, _, _, _>::new(data, &views, ImageCollate, &increment)
        .settings(settings)
        .seed(arguments.seed);

    let config = ResNetConfig::new(data.channels()).with_projection(Some(64));
    let mut untrained: ResNet<B> = config.init(seed.child("init"), &device);
    if let Some(weights) = &arguments.weights {
        untrained = untrained.with_torchvision_weights(weights)?;
    }
    let first = trainer.pretrain(untrained.clone())?;
    let updated = trainer.update(&Method::icl(), first.trained.clone())?;
    let retrained = trainer.update(&Method::retraining(), untrained.clone())?;

    let evaluator = trainer.evaluator();
    let knn = KnnProtocolConfig::default().try_init()?;
    // The floor: the pixels of the plain view, which all have one size.
    let mut pixels = Vec::new();
    for index in 0..data.n_images() {
        let image = data.sample(index).map_err(Error::from_boxed)?;
        pixels.extend_from_slice(views.plain(&image).values());
    }
    let raw = Matrix::try_from_f32(&pixels, pixels.len() / data.n_images())?;
    let judge = Accuracies::new(&knn, data.labels(), seed.child("folds")).with_raw(&raw);
    let measure = |name, encoder: &ResNet<Flex>| -> Result<(Row, Judgement)> {
        let measured = evaluator.measure(&judge, encoder.clone(), untrained.valid());
        let measured = measured.map_err(Error::from_boxed)?;
        let accuracy = measured.judgement.accuracy.all.as_ref();
        let accuracy = accuracy.context("the data have a single class")?.mean;
        Ok((Row::new(name, measured.risk, accuracy), measured.judgement))
    };
    let (row, Judgement { floors, .. }) = measure("untrained", &untrained.valid())?;
    let rows = [
        row,
        measure("θ₀", &first.encoder)?.0.after(&first),
        measure("updated", &updated.encoder)?.0.after(&updated),
        measure("retrained", &retrained.encoder)?
            .0
            .after(&retrained),
    ];
    let mean = |floor: Option<Accuracy>| floor.map_or(f64::NAN, |floor| floor.mean);
    table::print(
        &rows,
        &[
            ("raw pixels", mean(floors.all.raw)),
            ("untrained encoder", mean(floors.all.untrained)),
        ],
    );
    println!("{}", table::verdict(&updated.record, &retrained.record));
    Ok(())
}
