//! The encoder: a new one of images, or one in a file.

use std::path::PathBuf;

use clap::Args;
use icl_data::ImageViewsConfig;
use icl_models::Stem;
use serde::Serialize;

use crate::options::choice;
use crate::options::data::check_images_only;
use crate::process::failure::Failure;

/// Maximum side of a view for which the stem for small images is chosen.
pub const SMALL_SIDE: usize = 32;

/// Side of a view in the paper, for images that have no common size of their own.
pub const PAPER_SIDE: usize = 224;

/// A new encoder of images and its views.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Encoder")]
pub struct EncoderOptions {
    #[arg(
        long,
        value_name = "PIXELS",
        help = format!(
            "Side of a view in pixels (images only). Without it, the side of IDX and CIFAR images, and \
             {PAPER_SIDE} for folders"
        )
    )]
    pub image_size: Option<usize>,
    #[arg(
        long,
        value_parser = choice::any::<Stem>(),
        help = format!(
            "First layers of the ResNet-18 (images only): small is a 3x3 convolution, standard a 7x7 \
             convolution with stride 2 and a pooling. Without it, small for views of at most \
             {SMALL_SIDE} pixels without --weights, else standard"
        )
    )]
    pub stem: Option<Stem>,
    /// Width of a projection head on the encoder (images only). Without it, no projection head
    #[arg(long, value_name = "WIDTH")]
    pub projection: Option<usize>,
    /// Probability that a view is blurred (images only)
    #[arg(long, value_name = "P", default_value_t = default_blur())]
    pub blur: f64,
    /// Initial weights of the ResNet-18, a .pth or .safetensors file of torchvision (images only). Without
    /// it, random weights
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
}

impl EncoderOptions {
    /// Checks that no option of images is given with `data`, a data set of graphs.
    ///
    /// # Errors
    /// If one is.
    pub fn check_unused(&self, data: &str) -> Result<(), Failure> {
        let given = [
            ("image-size", self.image_size.is_some()),
            ("stem", self.stem.is_some()),
            ("projection", self.projection.is_some()),
            ("blur", self.blur != default_blur()),
            ("weights", self.weights.is_some()),
        ];
        check_images_only(&given, data)
    }
}

fn default_blur() -> f64 {
    ImageViewsConfig::new(PAPER_SIDE).blur
}

/// An encoder in a file.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Encoder")]
pub struct FromOption {
    /// File of the encoder, as written by icl
    #[arg(long, value_name = "ENCODER.safetensors")]
    pub from: PathBuf,
}
