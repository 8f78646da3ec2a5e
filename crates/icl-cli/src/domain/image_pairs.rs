//! The views of images: augmentations, mixup noise, or a positive pair of each.

use std::sync::Arc;

use icl_core::{Both, Pairing, Rng, Views};
use icl_data::{Image, ImageNoise, ImageView, ImageViews, MixedImageViews, MixedImageViewsConfig};
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

/// Views of images.
#[derive(Debug)]
pub enum ImagePairs {
    /// Augmentations.
    Augmented(ImageViews),
    /// Mixup noise.
    Mixed(MixedImageViews),
    /// A pair of augmented views and a pair with mixup noise.
    Both(Both<ImageViews, MixedImageViews>),
}

impl ImagePairs {
    /// Creates the views.
    ///
    /// # Errors
    /// If a number of the noise is not valid.
    pub fn new(views: ImageViews, mixup: Option<&Mixup>) -> Result<Self, anyhow::Error> {
        Ok(match mixup {
            None => Self::Augmented(views),
            Some(mixup) => {
                let mixed = mixup.noise.try_init(views.clone())?;
                match mixup.with_augmentations {
                    false => Self::Mixed(mixed),
                    true => Self::Both(Both::new(views, mixed)),
                }
            }
        })
    }
}

impl Views for ImagePairs {
    type Sample = Arc<Image>;
    type View = ImageView;

    fn view(&self, sample: &Arc<Image>, rng: &mut Rng) -> ImageView {
        match self {
            Self::Augmented(views) => views.view(sample, rng),
            Self::Mixed(views) => views.view(sample, rng),
            Self::Both(views) => views.view(sample, rng),
        }
    }

    fn plain(&self, sample: &Arc<Image>) -> ImageView {
        match self {
            Self::Augmented(views) => views.plain(sample),
            Self::Mixed(views) => views.plain(sample),
            Self::Both(views) => views.plain(sample),
        }
    }

    fn paired_view(
        &self,
        sample: &Arc<Image>,
        pairing: &Pairing<'_, Arc<Image>>,
        rng: &mut Rng,
    ) -> ImageView {
        match self {
            Self::Augmented(views) => views.paired_view(sample, pairing, rng),
            Self::Mixed(views) => views.paired_view(sample, pairing, rng),
            Self::Both(views) => views.paired_view(sample, pairing, rng),
        }
    }

    fn paired_view_into(
        &self,
        sample: &Arc<Image>,
        pairing: &Pairing<'_, Arc<Image>>,
        rng: &mut Rng,
        slot: &mut ImageView,
    ) {
        match self {
            Self::Augmented(views) => views.paired_view_into(sample, pairing, rng, slot),
            Self::Mixed(views) => views.paired_view_into(sample, pairing, rng, slot),
            Self::Both(views) => views.paired_view_into(sample, pairing, rng, slot),
        }
    }

    fn n_partners(&self) -> usize {
        match self {
            Self::Augmented(views) => views.n_partners(),
            Self::Mixed(views) => views.n_partners(),
            Self::Both(views) => views.n_partners(),
        }
    }

    fn n_pairs(&self) -> usize {
        match self {
            Self::Augmented(views) => views.n_pairs(),
            Self::Mixed(views) => views.n_pairs(),
            Self::Both(views) => views.n_pairs(),
        }
    }
}
