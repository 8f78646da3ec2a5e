//! The encoders of graphs.

use std::fmt::Debug;

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::graph::GraphBatch;
use icl_core::{Encoder, Seed};
use icl_models::{EncoderBackend, Gcn, GcnConfig, Gin, GinConfig};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::options::encoder::EncoderOptions;
use crate::process::failure::Failure;

/// Configuration of an encoder of graphs.
pub trait GraphEncoder: Clone + Debug + Serialize + DeserializeOwned {
    /// Name of the encoder in files and options.
    const NAME: &'static str;
    /// Name of the encoder in messages.
    const TITLE: &'static str;

    /// The encoder on a backend.
    type Module<B: EncoderBackend>: Encoder<B, Batch = GraphBatch<B>>;
    /// The encoder on a backend with gradients.
    type Trained<B: EncoderBackend + AutodiffBackend<InnerBackend: EncoderBackend>>: AutodiffModule<B, InnerModule = Self::Module<B::InnerBackend>>
        + Encoder<B, Batch = GraphBatch<B>>;

    /// Returns the configuration for node features of this width.
    ///
    /// # Errors
    /// If an option is not valid.
    fn of(d_input: usize, options: &EncoderOptions) -> Result<Self, Failure>;

    /// Creates the encoder.
    ///
    /// # Errors
    /// If the configuration is not valid.
    fn try_init<B: EncoderBackend + AutodiffBackend<InnerBackend: EncoderBackend>>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<Self::Trained<B>, anyhow::Error>;

    /// Returns the names and shapes of the tensors.
    fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)>;

    /// Returns the width of the node features.
    fn d_input(&self) -> usize;

    /// Returns the number of layers.
    fn n_layers(&self) -> usize;
}

impl GraphEncoder for GcnConfig {
    const NAME: &'static str = "gcn";
    const TITLE: &'static str = "a GCN";

    type Module<B: EncoderBackend> = Gcn<B>;
    type Trained<B: EncoderBackend + AutodiffBackend<InnerBackend: EncoderBackend>> = Gcn<B>;

    fn of(d_input: usize, options: &EncoderOptions) -> Result<Self, Failure> {
        let mut config = Self::new(d_input);
        config.n_layers = options.layers.unwrap_or(config.n_layers);
        config.d_hidden = options.width.unwrap_or(config.d_hidden);
        config.check().map_err(Failure::input)?;
        Ok(config)
    }

    fn try_init<B: EncoderBackend + AutodiffBackend<InnerBackend: EncoderBackend>>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<Gcn<B>, anyhow::Error> {
        Ok(GcnConfig::try_init(self, seed, device)?)
    }

    fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        GcnConfig::tensors(self)
    }

    fn d_input(&self) -> usize {
        self.d_input
    }

    fn n_layers(&self) -> usize {
        self.n_layers
    }
}

impl GraphEncoder for GinConfig {
    const NAME: &'static str = "gin";
    const TITLE: &'static str = "a GIN";

    type Module<B: EncoderBackend> = Gin<B>;
    type Trained<B: EncoderBackend + AutodiffBackend<InnerBackend: EncoderBackend>> = Gin<B>;

    fn of(d_input: usize, options: &EncoderOptions) -> Result<Self, Failure> {
        let mut config = Self::new(d_input).with_projection(options.projection);
        config.n_layers = options.layers.unwrap_or(config.n_layers);
        config.d_hidden = options.width.unwrap_or(config.d_hidden);
        config.check().map_err(Failure::input)?;
        Ok(config)
    }

    fn try_init<B: EncoderBackend + AutodiffBackend<InnerBackend: EncoderBackend>>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<Gin<B>, anyhow::Error> {
        Ok(GinConfig::try_init(self, seed, device)?)
    }

    fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        GinConfig::tensors(self)
    }

    fn d_input(&self) -> usize {
        self.d_input
    }

    fn n_layers(&self) -> usize {
        self.n_layers
    }
}
