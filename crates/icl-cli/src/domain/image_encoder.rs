//! The convolutional encoders of images.

use std::fmt::Debug;
use std::path::Path;
use std::sync::Once;

use burn::module::{AutodiffModule, ModuleDisplay};
use burn::tensor::Tensor;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Encoder, Error, Seed};
use icl_models::{ConvNet, ConvNetConfig, ResNet, ResNetConfig, Stem};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::options::bounds::check_weights;
use crate::options::encoder::{EncoderOptions, PROJECTION_OF_CONVNET, SMALL_SIDE};
use crate::process::failure::Failure;
use crate::process::group::is_silent;
use crate::process::terminal::tell;

/// Configuration of an encoder of images `[n, channels, height, width]`.
pub trait ImageEncoder: Debug + Serialize + DeserializeOwned {
    /// Name of the encoder in files.
    const NAME: &'static str;
    /// Name of the encoder in messages.
    const TITLE: &'static str;

    /// Encoder for use.
    type Module<B: Backend>: Encoder<B, Batch = Tensor<B, 4>> + ModuleDisplay;
    /// Encoder in training.
    type Trained<B: AutodiffBackend>: AutodiffModule<B, InnerModule = Self::Module<B::InnerBackend>>
        + Encoder<B, Batch = Tensor<B, 4>>
        + ModuleDisplay;

    /// Returns the configuration for images of these channels in views of this side.
    ///
    /// # Errors
    /// If an option is not valid.
    fn of(in_channels: usize, side: usize, options: &EncoderOptions) -> Result<Self, Failure>;

    /// Creates the encoder.
    ///
    /// # Errors
    /// If the configuration is not valid.
    fn try_init<B: AutodiffBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<Self::Trained<B>, Error>;

    /// Returns an encoder with the weights of a file, which only a ResNet-18 takes.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn with_weights<B: AutodiffBackend>(
        encoder: Self::Trained<B>,
        path: &Path,
    ) -> Result<Self::Trained<B>, Failure>;

    /// Returns the names and shapes of the tensors.
    fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)>;

    /// Returns the number of channels of the images.
    fn in_channels(&self) -> usize;

    /// Whether the encoder has a projection head.
    fn has_projection(&self) -> bool;
}

/// Guard of the note about the layout of the file of initial weights, which is printed once.
static LAYOUT_IS_KNOWN: Once = Once::new();

impl ImageEncoder for ResNetConfig {
    const NAME: &'static str = "resnet-18";
    const TITLE: &'static str = "a ResNet-18";

    type Module<B: Backend> = ResNet<B>;
    type Trained<B: AutodiffBackend> = ResNet<B>;

    fn of(in_channels: usize, side: usize, options: &EncoderOptions) -> Result<Self, Failure> {
        let stem = match (&options.stem, &options.weights) {
            (Some(stem), _) => *stem,
            (None, None) if side <= SMALL_SIDE => Stem::Small,
            _ => Stem::Standard,
        };
        let config = Self::new(in_channels)
            .with_stem(stem)
            .with_projection(options.projection);
        config.check().map_err(Failure::input)?;
        Ok(config)
    }

    fn try_init<B: AutodiffBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<ResNet<B>, Error> {
        Self::try_init(self, seed, device)
    }

    fn with_weights<B: AutodiffBackend>(
        encoder: ResNet<B>,
        path: &Path,
    ) -> Result<ResNet<B>, Failure> {
        let loaded = encoder.load_torchvision_weights(path);
        let (encoder, layout) = loaded.map_err(Failure::input)?;
        // Once, however many encoders begin with these weights.
        if !layout.is_plain() && !is_silent() {
            LAYOUT_IS_KNOWN
                .call_once(|| tell(format_args!("note: {}: found {layout}", path.display())));
        }
        Ok(encoder)
    }

    fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        Self::tensors(self)
    }

    fn in_channels(&self) -> usize {
        self.in_channels
    }

    fn has_projection(&self) -> bool {
        self.projection.is_some()
    }
}

impl ImageEncoder for ConvNetConfig {
    const NAME: &'static str = "convnet";
    const TITLE: &'static str = "a ConvNet";

    type Module<B: Backend> = ConvNet<B>;
    type Trained<B: AutodiffBackend> = ConvNet<B>;

    fn of(in_channels: usize, _: usize, options: &EncoderOptions) -> Result<Self, Failure> {
        let mut config = Self::new(in_channels)
            .with_projection(options.projection.or(Some(PROJECTION_OF_CONVNET)));
        config.width = options.width.unwrap_or(config.width);
        config.check().map_err(Failure::input)?;
        check_weights(Self::tensors(&config))?;
        Ok(config)
    }

    fn try_init<B: AutodiffBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<ConvNet<B>, Error> {
        Self::try_init(self, seed, device)
    }

    fn with_weights<B: AutodiffBackend>(_: ConvNet<B>, _: &Path) -> Result<ConvNet<B>, Failure> {
        unreachable!("only a ResNet-18 takes the option of weights")
    }

    fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        Self::tensors(self)
    }

    fn in_channels(&self) -> usize {
        self.in_channels
    }

    fn has_projection(&self) -> bool {
        self.projection.is_some()
    }
}
