//! A new encoder.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use icl_data::ImageViewsConfig;
use icl_models::{
    ConvNetConfig, GcnConfig, GinConfig, MlpConfig, Stem, TwoTowerConfig, WordTowerConfig,
};
use serde::{Deserialize, Serialize};

use crate::options::{bounds, choice};
use crate::process::failure::Failure;

/// Maximum side of a view for which the stem for small images is chosen.
pub const SMALL_SIDE: usize = 32;

/// Maximum side of images for which a perceptron is the encoder unless another one is chosen.
pub const MLP_SIDE: usize = 16;

/// Side of a view in the paper, for images that have no common size of their own.
pub const PAPER_SIDE: usize = 224;

/// Width of the projection head of a new ConvNet.
pub const PROJECTION_OF_CONVNET: usize = 64;

/// Kind of a new encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EncoderKind {
    /// Graph convolutional network.
    Gcn,
    /// Graph isomorphism network.
    Gin,
    /// ResNet-18.
    Resnet18,
    /// Four convolutions.
    Convnet,
    /// Multilayer perceptron.
    Mlp,
    /// Two towers, of histories and of items.
    TwoTower,
    /// Means of word embeddings.
    WordTower,
}

/// A new encoder and its views.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Encoder")]
pub struct EncoderOptions {
    #[arg(
        long,
        value_parser = choice::any::<EncoderKind>(),
        help = format!(
            "Encoder: gcn or gin for graphs, resnet18, convnet or mlp for images, mlp for tables, two-tower for \
             interactions, word-tower for pairs of texts. Without it, the first of these; for images mlp up to {MLP_SIDE} pixels a side, else resnet18"
        )
    )]
    pub(crate) encoder: Option<EncoderKind>,
    #[arg(
        long,
        value_name = "N",
        value_parser = bounds::at_most(bounds::LAYERS),
        help = format!(
            "Number of layers (gcn, gin, mlp). Without it, {} for gcn, {} for gin, {} for mlp, {} for mlp with \
             augmented images",
            GcnConfig::new(1).n_layers,
            GinConfig::new(1).n_layers,
            MlpConfig::new(1).n_layers,
            mlp_of_pixels(1).n_layers
        )
    )]
    pub(crate) layers: Option<usize>,
    #[arg(
        long,
        value_name = "WIDTH",
        value_parser = bounds::at_most(bounds::WIDTH),
        help = format!(
            "Width of each layer (gcn, gin, mlp), of the first of four convolutions, which double it (convnet), or of \
             embeddings and layer (two-tower, word-tower). Without it, {} for gcn, {} for gin, {} for mlp, {} for mlp \
             with augmented images, {} for convnet, {} for two-tower, {} for word-tower",
            GcnConfig::new(1).d_hidden,
            GinConfig::new(1).d_hidden,
            MlpConfig::new(1).width,
            mlp_of_pixels(1).width,
            ConvNetConfig::new(1).width,
            TwoTowerConfig::new(1).d,
            WordTowerConfig::new(1).d
        )
    )]
    pub(crate) width: Option<usize>,
    #[arg(
        long,
        value_name = "WIDTH",
        value_parser = bounds::at_most(bounds::WIDTH),
        help = format!(
            "Width of a projection head on the encoder (not for gcn). Without it, {} for mlp with augmented \
             images, {PROJECTION_OF_CONVNET} for convnet, else no projection head",
            mlp_of_pixels(1).projection.unwrap_or_default()
        )
    )]
    pub(crate) projection: Option<usize>,
    #[arg(
        long,
        value_name = "PIXELS",
        value_parser = bounds::at_most(bounds::IMAGE_SIDE),
        help = format!(
            "Side of a view in pixels (images only). Without it, the side of IDX and CIFAR images; for \
             folders, {PAPER_SIDE} for resnet18 and convnet"
        )
    )]
    pub(crate) image_size: Option<usize>,
    #[arg(
        long,
        value_parser = choice::any::<Stem>(),
        help = format!(
            "First layers of the ResNet-18 (resnet18 only): small is a 3x3 convolution, standard a 7x7 \
             convolution with stride 2 and a pooling. Without it, small for views of at most \
             {SMALL_SIDE} pixels without --weights, else standard"
        )
    )]
    pub(crate) stem: Option<Stem>,
    /// Probability that a view is blurred (resnet18, convnet)
    #[arg(long, value_name = "P", default_value_t = default_blur())]
    pub blur: f64,
    /// Initial weights of the ResNet-18, a .pth or .safetensors file with torchvision's names (resnet18 only). Without
    /// it, random weights
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
}

impl EncoderOptions {
    /// Returns the kind of encoder that is chosen, the first of `possible` without a choice, and checks that
    /// it takes the options that are given. `samples` names the data.
    ///
    /// # Errors
    /// If the encoder is not possible, or an option is for another encoder.
    pub fn kind(&self, possible: &[EncoderKind], samples: &str) -> Result<EncoderKind, Failure> {
        let kind = self.encoder.unwrap_or(possible[0]);
        if !possible.contains(&kind) {
            let expected: Vec<&str> = possible.iter().map(choice::name).collect();
            return Err(Failure::input(anyhow!(
                "encoder: found {} for {samples}, expected {}",
                choice::name(&kind),
                expected.join(" or ")
            )));
        }
        use EncoderKind::{Convnet, Gcn, Gin, Mlp, Resnet18, TwoTower, WordTower};
        for (option, is_given, takers) in [
            ("layers", self.layers.is_some(), &[Gcn, Gin, Mlp][..]),
            (
                "width",
                self.width.is_some(),
                &[Gcn, Gin, Mlp, Convnet, TwoTower, WordTower],
            ),
            (
                "projection",
                self.projection.is_some(),
                &[Gin, Mlp, Resnet18, Convnet],
            ),
            (
                "image-size",
                self.image_size.is_some(),
                if possible.contains(&Resnet18) {
                    &[Resnet18, Convnet, Mlp]
                } else {
                    &[Resnet18, Convnet]
                },
            ),
            ("stem", self.stem.is_some(), &[Resnet18]),
            ("blur", self.blur != default_blur(), &[Resnet18, Convnet]),
            ("weights", self.weights.is_some(), &[Resnet18]),
        ] {
            if is_given && !takers.contains(&kind) {
                let expected: Vec<&str> = takers.iter().map(choice::name).collect();
                return Err(Failure::input(anyhow!(
                    "{option}: found it with the encoder {} of {samples}, expected it with {} only",
                    choice::name(&kind),
                    expected.join(" or ")
                )));
            }
        }
        Ok(kind)
    }
}

/// Returns the default configuration of a perceptron on the augmented pixels of images: 64-128-128-64 for
/// digits of 8 x 8 pixels, the last layer without normalisation.
pub fn mlp_of_pixels(n_pixels: usize) -> MlpConfig {
    MlpConfig::new(n_pixels)
        .with_n_layers(2)
        .with_width(128)
        .with_projection(Some(64))
        .with_n_projection_layers(1)
}

fn default_blur() -> f64 {
    ImageViewsConfig::new(PAPER_SIDE).blur
}
