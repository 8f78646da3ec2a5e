//! Reads a ResNet-18 with torchvision's names, updates it on images, and writes it with the same names.
//!
//! Nothing is downloaded: without a file of weights the example makes one of random weights, with torchvision's names.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use burn::backend::{Autodiff, Flex};
use burn::module::AutodiffModule;
use clap::Parser;
use icl::core::{GrowthRatio, Seed};
use icl::data::{
    Image, ImageCollate, ImageDataset, ImageOptions, ImageViewsConfig, Split, embedded, read_images,
};
use icl::models::{ResNet, ResNetConfig};
use icl::prelude::*;

type B = Autodiff<Flex>;

/// Updates a ResNet-18 of torchvision's on images
#[derive(Parser)]
struct Arguments {
    /// Folder with a folder of images for each class. Without it, the embedded digits 1 and 7
    folder: Option<PathBuf>,
    /// Weights of torchvision's resnet18, as .safetensors or .pth. Without it, random ones
    #[arg(long)]
    weights: Option<PathBuf>,
    /// File of the updated weights
    #[arg(long, default_value = "updated.safetensors")]
    out: PathBuf,
    /// Maximum number of epochs
    #[arg(long, default_value_t = 20)]
    epochs: usize,
    /// Maximum number of images
    #[arg(long, default_value_t = 400)]
    limit: usize,
    /// Side of a view in pixels
    #[arg(long, default_value_t = 28)]
    size: usize,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let (seed, device) = (Seed::new(1), Default::default());
    // torchvision's classes stay in the file, so that PyTorch loads it as any other. The losses take the 512 features
    // themselves: a projection head would have no place in the file.
    let config = ResNetConfig::new(3).with_n_classes(Some(1000));
    let fresh: ResNet<B> = config.init(seed, &device);
    let weights = match arguments.weights {
        Some(weights) => weights,
        None => {
            let weights = arguments.out.with_file_name("random.safetensors");
            fresh.save_torchvision_weights(&weights)?;
            println!(
                "{}: random weights with torchvision's names",
                weights.display()
            );
            weights
        }
    };
    let theta0 = fresh.with_torchvision_weights(&weights)?;

    let limit = Some(arguments.limit);
    let data = match &arguments.folder {
        None => embedded::images("MNIST-1v7")?.select(&[], limit)?,
        Some(folder) => {
            let options = ImageOptions {
                limit,
                ..Default::default()
            };
            read_images(folder, &options)?
        }
    };
    // Half of the classes, or the 7, are new.
    let increment = data.increment(Split::Class, GrowthRatio::try_new(0.5)?, seed)?;
    let (training, held_out) = increment.hold_out(0.25, seed)?;
    let images = coloured(&data)?;
    // A mirrored digit is no digit.
    let flip = if arguments.folder.is_some() { 0.5 } else { 0.0 };
    let views = ImageViewsConfig::new(arguments.size).with_flip(flip);
    let views = views.try_init()?;
    let settings = TrainingSettings {
        epochs: arguments.epochs,
        learning_rate: 1e-3,
        ..Default::default()
    };
    let trainer = Trainer::<B, _, _, _>::new(&images, &views, ImageCollate, &training)
        .settings(settings)
        .seed(1);
    let updated = trainer.update(&Method::icl(), theta0.clone())?;

    let evaluator = trainer.evaluator();
    // Statistics that come with the weights stay as they are, as in the update.
    let given = theta0.with_frozen_statistics(true).valid();
    let (before, _) = evaluator.with_statistics(given)?;
    println!("encoder   risk of old       risk of new");
    for (name, encoder) in [("θ₀", &before), ("updated", &updated.encoder)] {
        let risk = evaluator.held_out_risk(encoder, &held_out)?;
        let (mean, error) = (risk.mean, risk.standard_error);
        println!(
            "{name:<9} {:.4} ± {:.4}   {:.4} ± {:.4}",
            mean.old, error.old, mean.new, error.new
        );
    }
    println!("risk over held-out images in nats, and its standard error");
    updated.encoder.save_torchvision_weights(&arguments.out)?;
    println!(
        "{}: the updated weights, for PyTorch",
        arguments.out.display()
    );
    Ok(())
}

/// Reads all images, with three channels as torchvision's network takes them.
fn coloured(data: &ImageDataset) -> Result<Vec<Arc<Image>>> {
    let image = |at| {
        let image = data.image(at)?;
        if image.channels() == 3 {
            return Ok(image);
        }
        let pixels = image.pixels().iter().flat_map(|&grey| [grey; 3]).collect();
        Ok(Arc::new(Image::new(
            image.width(),
            image.height(),
            3,
            pixels,
        )))
    };
    (0..data.n_images()).map(image).collect()
}
