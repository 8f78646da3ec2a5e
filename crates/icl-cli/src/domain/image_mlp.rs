//! A multilayer perceptron on the pixels of small images, with weak augmentations as views.

use anyhow::anyhow;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Error, Seed};
use icl_data::{FlatImageCollate, ImageDataset, Outliers, ShiftViews, ShiftViewsConfig};
use icl_eval::Matrix;
use icl_models::{Mlp, MlpConfig, StoredEncoder};

use crate::domain::Collated;
use crate::domain::data::Data;
use crate::domain::images::{check_channels, check_side, images, pixels};
use crate::domain::{Codec, Domain};
use crate::options::bounds::check_weights;
use crate::options::encoder::{EncoderOptions, SMALL_SIDE, mlp_of_pixels};
use crate::process::failure::Failure;

/// Configuration of the perceptron and of its views.
#[derive(Debug)]
pub struct ImageMlp {
    config: MlpConfig,
    channels: usize,
    views: ShiftViews,
}

impl ImageMlp {
    /// Returns the encoder and the views for these images, with the options that are given.
    ///
    /// # Errors
    /// If an option is not valid, or none gives the side of a view and the images have no common one.
    pub fn of(data: &ImageDataset, options: &EncoderOptions) -> Result<Self, Failure> {
        let Some(size) = options.image_size.or_else(|| data.common_side()) else {
            return Err(Failure::input(anyhow!(
                "image-size: found none with the encoder mlp and images that are no squares of one size in \
                 memory, expected the side of a view"
            )));
        };
        let views = ShiftViewsConfig::new(size)
            .try_init()
            .map_err(Failure::input)?;
        let channels = data.channels();
        let defaults = mlp_of_pixels(channels * size * size);
        let config = MlpConfig {
            n_layers: options.layers.unwrap_or(defaults.n_layers),
            width: options.width.unwrap_or(defaults.width),
            projection: options.projection.or(defaults.projection),
            ..defaults
        };
        config.check().map_err(Failure::input)?;
        check_weights(config.tensors())?;
        Ok(Self {
            config,
            channels,
            views,
        })
    }
}

impl Codec for ImageMlp {
    const ENCODER: &'static str = "image-mlp";

    fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        self.config.tensors()
    }

    fn encoder_name(&self) -> String {
        format!("an MLP of pixels with n_layers = {}", self.config.n_layers)
    }

    fn describe(&self) -> Result<Vec<(&'static str, String)>, serde_json::Error> {
        Ok(vec![
            ("channels", self.channels.to_string()),
            ("config", serde_json::to_string(&self.config)?),
            ("views", serde_json::to_string(self.views.config())?),
        ])
    }

    fn from_file(file: &StoredEncoder) -> Result<Self, Error> {
        let channels: usize = file.parsed("channels", "the number of channels, 1 or 3")?;
        let config: MlpConfig = file.parsed("config", "the configuration of an MLP")?;
        let expected = "the configuration of views of small images";
        let views: ShiftViewsConfig = file.parsed("views", expected)?;
        let views = views
            .try_init()
            .map_err(|error| file.unreadable("views", error, expected))?;
        check_side(file, views.config().size)?;
        if !matches!(channels, 1 | 3) {
            return Err(file.wrong(format!("{channels} channels"), "1 or 3"));
        }
        let n_pixels = channels * views.config().size.pow(2);
        if config.d_input != n_pixels {
            return Err(file.wrong(
                format!("an MLP with d_input = {}", config.d_input),
                format!("{n_pixels}, the number of values of a view"),
            ));
        }
        Ok(Self {
            config,
            channels,
            views,
        })
    }
}

impl Domain for ImageMlp {
    type Data = ImageDataset;
    type Views = ShiftViews;
    type Collate = FlatImageCollate;
    type Encoder<B: Backend> = Mlp<B>;
    type Trained<B: AutodiffBackend> = Mlp<B>;

    fn prepared(&self, data: Data, _: Outliers) -> Result<Option<ImageDataset>, Failure> {
        Ok(images(data))
    }

    fn views(&self) -> &ShiftViews {
        &self.views
    }

    fn collate(&self) -> Collated<FlatImageCollate> {
        Collated(FlatImageCollate)
    }

    fn random<B: AutodiffBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<Mlp<B>, anyhow::Error> {
        Ok(self.config.try_init(seed, device)?)
    }

    fn check(&self, data: &ImageDataset) -> Result<(), Error> {
        check_channels(data, self.channels)
    }

    fn features(&self, data: &ImageDataset, samples: &[usize]) -> Result<Option<Matrix>, Failure> {
        let mut config = self.views.config().clone();
        config.size = config.size.min(SMALL_SIDE);
        config.shift_px = 0;
        pixels((data, samples), &config.init())
    }
}
