//! A convolutional encoder of images, with augmentations or mixup noise as views.

use std::path::PathBuf;

use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Error, Seed};
use icl_data::{ImageCollate, ImageDataset, ImageViews, ImageViewsConfig, Outliers};
use icl_eval::Matrix;
use icl_models::StoredEncoder;

use crate::domain::Collated;
use crate::domain::data::{Data, IMAGES};
use crate::domain::image_encoder::ImageEncoder;
use crate::domain::image_pairs::{ImagePairs, Mixup, image_pairs};
use crate::domain::images::{check_channels, check_side, images, pixels};
use crate::domain::{Codec, Domain};
use crate::options::encoder::{EncoderOptions, PAPER_SIDE, SMALL_SIDE};
use crate::options::noise::NoiseOptions;
use crate::process::failure::Failure;

/// Key of the mixup noise in an encoder's file.
const MIXUP: &str = "mixup";

/// Configuration of the encoder and of its views.
#[derive(Debug)]
pub struct Convolutional<E: ImageEncoder> {
    config: E,
    /// Augmentations, whose plain view is that of every noise.
    augmentations: ImageViews,
    mixup: Option<Mixup>,
    views: Box<dyn ImagePairs>,
    /// Initial weights of every fresh encoder, if they are not random.
    weights: Option<PathBuf>,
}

impl<E: ImageEncoder> Convolutional<E> {
    /// Returns the encoder and the views of the paper for these data, with the options that are given.
    ///
    /// # Errors
    /// If an option is not valid.
    pub fn of(
        data: &ImageDataset,
        choice: &EncoderOptions,
        noise: &NoiseOptions,
    ) -> Result<Self, Failure> {
        let side = match choice.image_size {
            Some(side) => side,
            None => data.common_side().unwrap_or(PAPER_SIDE),
        };
        let views = ImageViewsConfig::new(side).with_blur(choice.blur);
        let config = E::of(data.channels(), side, choice)?;
        let augmentations = views.try_init().map_err(Failure::input)?;
        let mixup = Mixup::of(noise, IMAGES)?;
        Ok(Self {
            config,
            views: image_pairs(augmentations.clone(), mixup.as_ref()).map_err(Failure::Input)?,
            augmentations,
            mixup,
            weights: choice.weights.clone(),
        })
    }
}

impl<E: ImageEncoder> Codec for Convolutional<E> {
    const ENCODER: &'static str = E::NAME;

    fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        self.config.tensors()
    }

    fn encoder_name(&self) -> String {
        match self.config.has_projection() {
            false => E::TITLE.to_owned(),
            true => format!("{} with a projection head", E::TITLE),
        }
    }

    fn describe(&self) -> Result<Vec<(&'static str, String)>, serde_json::Error> {
        let mut description = vec![
            ("config", serde_json::to_string(&self.config)?),
            ("views", serde_json::to_string(self.augmentations.config())?),
        ];
        if let Some(mixup) = &self.mixup {
            description.push((MIXUP, serde_json::to_string(mixup)?));
        }
        Ok(description)
    }

    fn from_file(file: &StoredEncoder) -> Result<Self, Error> {
        let config: E = file.parsed("config", &format!("the configuration of {}", E::TITLE))?;
        let expected = "the configuration of views";
        let views: ImageViewsConfig = file.parsed("views", expected)?;
        let augmentations = views
            .try_init()
            .map_err(|error| file.unreadable("views", error, expected))?;
        check_side(file, views.size)?;
        // A file without noise has no such entry.
        let mixup: Option<Mixup> = match file.get(MIXUP) {
            None => None,
            Some(_) => file.parsed(MIXUP, expected)?,
        };
        let views = image_pairs(augmentations.clone(), mixup.as_ref())
            .map_err(|error| file.unreadable(MIXUP, error, expected))?;
        Ok(Self {
            config,
            augmentations,
            mixup,
            views,
            weights: None,
        })
    }
}

impl<E: ImageEncoder> Domain for Convolutional<E> {
    type Data = ImageDataset;
    type Views = Box<dyn ImagePairs>;
    type Collate = ImageCollate;
    type Encoder<B: Backend> = E::Module<B>;
    type Trained<B: AutodiffBackend> = E::Trained<B>;

    fn prepared(&self, data: Data, _: Outliers) -> Result<Option<ImageDataset>, Failure> {
        Ok(images(data))
    }

    fn views(&self) -> &Self::Views {
        &self.views
    }

    fn collate(&self) -> Collated<ImageCollate> {
        Collated(ImageCollate)
    }

    fn fresh<B: AutodiffBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<E::Trained<B>, Failure> {
        let encoder = self.config.try_init::<B>(seed, device);
        let encoder = encoder.map_err(Failure::input)?;
        match &self.weights {
            None => Ok(encoder),
            Some(path) => E::with_weights::<B>(encoder, path),
        }
    }

    fn random<B: AutodiffBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<E::Trained<B>, anyhow::Error> {
        Ok(self.config.try_init::<B>(seed, device)?)
    }

    fn check(&self, data: &ImageDataset) -> Result<(), Error> {
        check_channels(data, self.config.in_channels())
    }

    fn features(&self, data: &ImageDataset, samples: &[usize]) -> Result<Option<Matrix>, Failure> {
        let mut config = self.augmentations.config().clone();
        config.size = config.size.min(SMALL_SIDE);
        pixels((data, samples), &config.init())
    }
}
