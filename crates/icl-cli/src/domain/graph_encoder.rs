//! The encoders of graphs, each with its views.

use std::fmt::Debug;

use burn::module::{AutodiffModule, ModuleDisplay};
use icl_core::{Collate, Encoder, Seed, Views};
use icl_data::{Graph, GraphCollate, GraphViews, GraphViewsConfig};
use icl_models::{Gcn, GcnConfig, Gin, GinConfig};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::backend::{ProgramBackend, TrainingBackend};
use crate::options::encoder::EncoderOptions;
use crate::process::failure::Failure;

/// Configuration of an encoder of graphs and its views.
pub trait GraphEncoder: Clone + Debug + Serialize + DeserializeOwned {
    /// Collation, which has no configuration.
    const COLLATE: Self::Collate;
    /// Name of the encoder in files.
    const NAME: &'static str;
    /// Name of the encoder in messages.
    const TITLE: &'static str;

    /// Views, which make positive pairs.
    type Views: Views<Sample = Graph> + Debug;
    /// Collation of views into what the encoder takes.
    type Collate: Collate<View = <Self::Views as Views>::View> + Debug;
    /// Encoder for use.
    type Module<B: ProgramBackend>: Encoder<B, Batch = <Self::Collate as Collate>::Batch<B>>
        + ModuleDisplay;
    /// Encoder in training.
    type Trained<B: TrainingBackend>: AutodiffModule<B, InnerModule = Self::Module<B::InnerBackend>>
        + Encoder<B, Batch = <Self::Collate as Collate>::Batch<B>>
        + ModuleDisplay;

    /// Creates the views.
    ///
    /// # Errors
    /// If the configuration is not valid.
    fn views(&self) -> Result<Self::Views, anyhow::Error>;

    /// Creates the encoder.
    ///
    /// # Errors
    /// If the configuration is not valid.
    fn try_init<B: TrainingBackend>(
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

/// Encoder of graphs without a projection head, behind which hidden noise can be added.
pub trait PlainGraphEncoder: GraphEncoder<Views = GraphViews, Collate = GraphCollate> {
    /// Name of the encoder with hidden noise in files.
    const HIDDEN_NAME: &'static str;
    /// Name of the encoder with hidden noise in messages.
    const HIDDEN_TITLE: &'static str;

    /// Returns the configuration for node features of this width.
    ///
    /// # Errors
    /// If an option is not valid.
    fn of(d_input: usize, options: &EncoderOptions) -> Result<Self, Failure>;

    /// Returns the width of the embeddings.
    fn d_embedding(&self) -> usize;
}

impl GraphEncoder for GcnConfig {
    const COLLATE: GraphCollate = GraphCollate;
    const NAME: &'static str = "gcn";
    const TITLE: &'static str = "a GCN";

    type Views = GraphViews;
    type Collate = GraphCollate;
    type Module<B: ProgramBackend> = Gcn<B>;
    type Trained<B: TrainingBackend> = Gcn<B>;

    fn views(&self) -> Result<GraphViews, anyhow::Error> {
        Ok(GraphViewsConfig::new().try_init()?)
    }

    fn try_init<B: TrainingBackend>(
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

impl PlainGraphEncoder for GcnConfig {
    const HIDDEN_NAME: &'static str = "gcn-hidden";
    const HIDDEN_TITLE: &'static str = "a GCN with hidden noise";

    fn of(d_input: usize, options: &EncoderOptions) -> Result<Self, Failure> {
        let mut config = Self::new(d_input);
        config.n_layers = options.layers.unwrap_or(config.n_layers);
        config.d_hidden = options.width.width.unwrap_or(config.d_hidden);
        config.check().map_err(Failure::input)?;
        Ok(config)
    }

    fn d_embedding(&self) -> usize {
        self.n_layers.saturating_mul(self.d_hidden)
    }
}

impl GraphEncoder for GinConfig {
    const COLLATE: GraphCollate = GraphCollate;
    const NAME: &'static str = "gin";
    const TITLE: &'static str = "a GIN";

    type Views = GraphViews;
    type Collate = GraphCollate;
    type Module<B: ProgramBackend> = Gin<B>;
    type Trained<B: TrainingBackend> = Gin<B>;

    fn views(&self) -> Result<GraphViews, anyhow::Error> {
        Ok(GraphViewsConfig::new().try_init()?)
    }

    fn try_init<B: TrainingBackend>(
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

impl PlainGraphEncoder for GinConfig {
    const HIDDEN_NAME: &'static str = "gin-hidden";
    const HIDDEN_TITLE: &'static str = "a GIN with hidden noise";

    fn of(d_input: usize, options: &EncoderOptions) -> Result<Self, Failure> {
        let mut config = Self::new(d_input).with_projection(options.projection);
        config.n_layers = options.layers.unwrap_or(config.n_layers);
        config.d_hidden = options.width.width.unwrap_or(config.d_hidden);
        config.check().map_err(Failure::input)?;
        Ok(config)
    }

    fn d_embedding(&self) -> usize {
        self.n_layers.saturating_mul(self.d_hidden)
    }
}
