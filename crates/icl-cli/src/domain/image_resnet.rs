//! A ResNet-18 as encoder of images, with augmentations or mixup noise as views.

use std::path::PathBuf;
use std::sync::Once;

use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Error, Seed};
use icl_data::{ImageCollate, ImageDataset, ImageViews, ImageViewsConfig, Outliers};
use icl_eval::Matrix;
use icl_models::{ResNet, ResNetConfig, Stem, StoredEncoder};

use crate::domain::Collated;
use crate::domain::data::{Data, IMAGES};
use crate::domain::image_pairs::{ImagePairs, Mixup, image_pairs};
use crate::domain::images::{check_channels, check_side, images, pixels};
use crate::domain::{Codec, Domain};
use crate::options::encoder::{EncoderOptions, PAPER_SIDE, SMALL_SIDE};
use crate::options::noise::NoiseOptions;
use crate::process::failure::Failure;
use crate::process::group::is_silent;
use crate::process::terminal::tell;

/// Whether the user knows what was removed around the tensors of the initial weights.
static LAYOUT_IS_TOLD: Once = Once::new();

/// Key of the mixup noise in an encoder's file.
const MIXUP: &str = "mixup";

/// Configuration of the ResNet-18 and of its views.
#[derive(Debug)]
pub struct ImageResNet {
    config: ResNetConfig,
    /// Augmentations, whose plain view is that of every noise.
    augmentations: ImageViews,
    mixup: Option<Mixup>,
    views: Box<dyn ImagePairs>,
    /// Initial weights of every fresh encoder, if they are not random.
    weights: Option<PathBuf>,
}

impl ImageResNet {
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
        let stem = match (&choice.stem, &choice.weights) {
            (Some(stem), _) => *stem,
            (None, None) if side <= SMALL_SIDE => Stem::Small,
            _ => Stem::Standard,
        };
        let config = ResNetConfig::new(data.channels())
            .with_stem(stem)
            .with_projection(choice.projection);
        config.check().map_err(Failure::input)?;
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

impl Codec for ImageResNet {
    const ENCODER: &'static str = "resnet-18";

    fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        self.config.tensors()
    }

    fn encoder_name(&self) -> String {
        match self.config.projection {
            None => "a ResNet-18".to_owned(),
            Some(_) => "a ResNet-18 with a projection head".to_owned(),
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
        let config: ResNetConfig = file.parsed("config", "the configuration of a ResNet-18")?;
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

impl Domain for ImageResNet {
    type Data = ImageDataset;
    type Views = Box<dyn ImagePairs>;
    type Collate = ImageCollate;
    type Encoder<B: Backend> = ResNet<B>;
    type Trained<B: AutodiffBackend> = ResNet<B>;

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
    ) -> Result<ResNet<B>, Failure> {
        let encoder = self.config.init(seed, device);
        match &self.weights {
            None => Ok(encoder),
            Some(path) => {
                let loaded = encoder.load_torchvision_weights(path);
                let (encoder, layout) = loaded.map_err(Failure::input)?;
                // Once, however many encoders begin with these weights.
                if !layout.is_plain() && !is_silent() {
                    LAYOUT_IS_TOLD.call_once(|| {
                        tell(format_args!("note: {}: found {layout}", path.display()))
                    });
                }
                Ok(encoder)
            }
        }
    }

    fn random<B: AutodiffBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<ResNet<B>, anyhow::Error> {
        Ok(self.config.try_init(seed, device)?)
    }

    fn check(&self, data: &ImageDataset) -> Result<(), Error> {
        check_channels(data, self.config.in_channels)
    }

    fn features(&self, data: &ImageDataset, samples: &[usize]) -> Result<Option<Matrix>, Failure> {
        let mut config = self.augmentations.config().clone();
        config.size = config.size.min(SMALL_SIDE);
        pixels((data, samples), &config.init())
    }
}
