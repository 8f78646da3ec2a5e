//! The views of images: augmentations, mixup noise, or a positive pair of each.

use std::fmt::Debug;
use std::sync::Arc;

use icl_core::{Both, Views};
use icl_data::{Image, ImageNoise, ImageView, ImageViews, MixedImageViewsConfig};
use serde::{Deserialize, Serialize};

use crate::options::noise::{Noise, NoiseOptions};
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Noise of the views of images; the first is the default.
pub const NOISES: [Noise; 9] = [
    Noise::Augment,
    Noise::Linear,
    Noise::Geometric,
    Noise::Binary,
    Noise::Plus,
    Noise::Gaussian,
    Noise::GaussianPrinted,
    Noise::AugmentLinear,
    Noise::AugmentPlus,
];

/// Mixup noise in addition to or instead of augmentations, as an encoder's file has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mixup {
    noise: MixedImageViewsConfig,
    /// Whether a pair of augmented views comes first.
    with_augmentations: bool,
}

impl Mixup {
    /// Returns the noise that is chosen, if there is one.
    ///
    /// # Errors
    /// If an option is not valid.
    pub fn of(options: &NoiseOptions, images: &str) -> Result<Option<Self>, Failure> {
        let (noise, with_augmentations) = match options.kind(&NOISES, images)? {
            Noise::Linear => (ImageNoise::Linear, false),
            Noise::Geometric => (ImageNoise::Geometric, false),
            Noise::Binary => (ImageNoise::Binary, false),
            Noise::Plus => (ImageNoise::Plus, false),
            Noise::Gaussian => (ImageNoise::Gaussian, false),
            Noise::GaussianPrinted => (ImageNoise::GaussianPrinted, false),
            Noise::AugmentLinear => (ImageNoise::Linear, true),
            Noise::AugmentPlus => (ImageNoise::Plus, true),
            _ => return Ok(None),
        };
        let noise = MixedImageViewsConfig::new(noise)
            .with_alpha_mix(options.alpha_mix())
            .with_keep(options.keep())
            .with_sigma(options.sigma());
        if let Some(note) = noise.note() {
            tell(format_args!("note: {note}"));
        }
        Ok(Some(Self {
            noise,
            with_augmentations,
        }))
    }
}

/// Views of images of any kind.
pub trait ImagePairs: Views<Sample = Arc<Image>, View = ImageView> + Debug {}

impl<V: Views<Sample = Arc<Image>, View = ImageView> + Debug> ImagePairs for V {}

/// Creates the views: augmentations, mixup noise, or a pair of each.
///
/// # Errors
/// If a number of the noise is not valid.
pub fn image_pairs(
    views: ImageViews,
    mixup: Option<&Mixup>,
) -> Result<Box<dyn ImagePairs>, anyhow::Error> {
    let Some(mixup) = mixup else {
        return Ok(Box::new(views));
    };
    let mixed = mixup.noise.try_init(views.clone())?;
    Ok(match mixup.with_augmentations {
        false => Box::new(mixed),
        true => Box::new(Both::new(views, mixed)),
    })
}
