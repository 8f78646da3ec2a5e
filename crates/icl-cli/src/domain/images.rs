//! Images, with a ResNet-18 as encoder.

use std::path::PathBuf;

use anyhow::anyhow;
use icl_core::{GrowthRatio, Increment, Samples, Seed, Views};
use icl_data::{ImageCollate, ImageDataset, ImageViews, ImageViewsConfig, Split};
use icl_eval::Matrix;
use icl_models::{ResNet, ResNetConfig, Stem};

use crate::backend::{ProgramBackend, TrainingBackend};
use crate::domain::class_numbers::numbers_of_classes;
use crate::domain::data::{Data, IMAGES};
use crate::domain::image_pairs::{ImagePairs, Mixup};
use crate::domain::{Domain, Text, Wrong};
use crate::options::encoder::{EncoderOptions, PAPER_SIDE, SMALL_SIDE};
use crate::options::noise::NoiseOptions;
use crate::process::failure::Failure;

/// Key of the mixup noise in an encoder's file.
const MIXUP: &str = "mixup";

/// Images of one number of channels.
#[derive(Debug)]
pub struct Images {
    config: ResNetConfig,
    /// Augmentations, whose plain view is that of every noise.
    augmentations: ImageViews,
    mixup: Option<Mixup>,
    views: ImagePairs,
    /// Initial weights of every fresh encoder, if they are not random.
    weights: Option<PathBuf>,
}

impl Images {
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
            views: ImagePairs::new(augmentations.clone(), mixup.as_ref())
                .map_err(Failure::Input)?,
            augmentations,
            mixup,
            weights: choice.weights.clone(),
        })
    }
}

impl Domain for Images {
    const COLLATE: ImageCollate = ImageCollate;
    const SAMPLES: &'static str = IMAGES;
    const ENCODER: &'static str = "resnet-18";

    type Data = ImageDataset;
    type Views = ImagePairs;
    type Collate = ImageCollate;
    type Encoder<B: ProgramBackend> = ResNet<B>;
    type Trained<B: TrainingBackend> = ResNet<B>;

    fn taken(&self, data: Data) -> Result<Option<ImageDataset>, Failure> {
        Ok(match data {
            Data::Images(images) => Some(images),
            _ => None,
        })
    }

    fn views(&self) -> &ImagePairs {
        &self.views
    }

    fn fresh<B: TrainingBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<ResNet<B>, Failure> {
        let encoder = self.config.init(seed, device);
        match &self.weights {
            None => Ok(encoder),
            Some(path) => encoder
                .with_torchvision_weights(path)
                .map_err(Failure::input),
        }
    }

    fn shape<B: TrainingBackend>(&self, device: &B::Device) -> Result<ResNet<B>, anyhow::Error> {
        Ok(self.config.try_init(Seed::new(0), device)?)
    }

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

    fn from_description(text: &Text<'_>) -> Result<Self, Wrong> {
        let unreadable = |key: &str, error: &dyn std::fmt::Display, expected: &str| {
            (
                format!("metadata \"{key}\" that cannot be read ({error})"),
                expected.to_owned(),
            )
        };
        let config = text("config", "the encoder's configuration")?;
        let config: ResNetConfig = serde_json::from_str(&config)
            .map_err(|error| unreadable("config", &error, "the configuration of a ResNet-18"))?;
        let expected = "the configuration of views";
        let views = text("views", expected)?;
        let views: ImageViewsConfig =
            serde_json::from_str(&views).map_err(|error| unreadable("views", &error, expected))?;
        let augmentations = views
            .try_init()
            .map_err(|error| unreadable("views", &error, expected))?;
        // A file without noise has no such entry.
        let mixup: Option<Mixup> = match text(MIXUP, expected) {
            Err(_) => None,
            Ok(mixup) => {
                serde_json::from_str(&mixup).map_err(|error| unreadable(MIXUP, &error, expected))?
            }
        };
        let views = ImagePairs::new(augmentations.clone(), mixup.as_ref())
            .map_err(|error| unreadable(MIXUP, &error, expected))?;
        Ok(Self {
            config,
            augmentations,
            mixup,
            views,
            weights: None,
        })
    }

    fn check(&self, data: &ImageDataset) -> Result<(), Wrong> {
        let (found, expected) = (data.channels(), self.config.in_channels);
        if found == expected {
            return Ok(());
        }
        Err((
            format!("images of {found} channels"),
            format!("{expected} channels"),
        ))
    }

    fn name(data: &ImageDataset) -> &str {
        data.name()
    }

    fn labels(data: &ImageDataset) -> Vec<usize> {
        data.labels().to_vec()
    }

    fn original_labels(data: &ImageDataset) -> Vec<i64> {
        numbers_of_classes(data.class_names(), data.labels())
    }

    fn increment(
        data: &ImageDataset,
        split: &Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, Failure> {
        data.increment(split.clone(), alpha, seed)
            .map_err(Failure::input)
    }

    fn join(old: &ImageDataset, new: &ImageDataset) -> Result<(ImageDataset, Increment), Failure> {
        ImageDataset::join(old, new).map_err(Failure::input)
    }

    fn n_equal(data: &ImageDataset, increment: &Increment) -> Result<usize, Failure> {
        data.n_equal(increment).map_err(Failure::input)
    }

    fn checksum(data: &ImageDataset) -> String {
        data.checksum()
    }

    /// Returns `None`: all views have one size.
    fn sizes(_: &ImageDataset) -> Result<Option<Matrix>, Failure> {
        Ok(None)
    }

    /// Returns the pixels of the centre view of each image, at most 32 x 32: a larger matrix would
    /// not fit into memory where the images do not.
    fn raw(&self, data: &ImageDataset) -> Result<Matrix, Failure> {
        let mut config = self.augmentations.config().clone();
        config.size = config.size.min(SMALL_SIDE);
        let views = config.init();
        let mut values = Vec::new();
        let mut width = 0;
        for index in 0..data.n_images() {
            let image = data
                .sample(index)
                .map_err(|error| Failure::Input(anyhow!(error)))?;
            let view = views.plain(&image);
            width = view.values().len();
            values.extend(view.values().iter().copied().map(f64::from));
        }
        Matrix::try_new(values, width).map_err(|error| Failure::Other(error.into()))
    }
}
