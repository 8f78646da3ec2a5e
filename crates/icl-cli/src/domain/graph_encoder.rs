//! The encoders of graphs, each with its views.

use std::fmt::Debug;

use burn::module::{AutodiffModule, ModuleDisplay};
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Encoder, Seed, Views};
use icl_data::{Graph, GraphCollate, GraphViews, GraphViewsConfig};
use icl_models::{Gcn, GcnConfig, Gin, GinConfig};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::domain::collation::OnEveryBackend;
use crate::options::bounds::check_weights;
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
    type Collate: OnEveryBackend<View = <Self::Views as Views>::View>;
    /// Encoder for use.
    type Module<B: Backend>: Encoder<B, Batch = <Self::Collate as OnEveryBackend>::Batch<B>>
        + ModuleDisplay;
    /// Encoder in training.
    type Trained<B: AutodiffBackend>: AutodiffModule<B, InnerModule = Self::Module<B::InnerBackend>>
        + Encoder<B, Batch = <Self::Collate as OnEveryBackend>::Batch<B>>
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
    fn try_init<B: AutodiffBackend>(
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

/// Implements both traits for the configuration of an encoder without noise on its output; the last argument
/// sets the width of its projection head.
macro_rules! graph_encoder {
    ($config:ty, $encoder:ident, $name:literal, $title:literal, $with_projection:expr) => {
        impl GraphEncoder for $config {
            const COLLATE: GraphCollate = GraphCollate;
            const NAME: &'static str = $name;
            const TITLE: &'static str = $title;

            type Views = GraphViews;
            type Collate = GraphCollate;
            type Module<B: Backend> = $encoder<B>;
            type Trained<B: AutodiffBackend> = $encoder<B>;

            fn views(&self) -> Result<GraphViews, anyhow::Error> {
                Ok(GraphViewsConfig::new().try_init()?)
            }

            fn try_init<B: AutodiffBackend>(
                &self,
                seed: Seed,
                device: &B::Device,
            ) -> Result<$encoder<B>, anyhow::Error> {
                Ok(<$config>::try_init(self, seed, device)?)
            }

            fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
                <$config>::tensors(self)
            }

            fn d_input(&self) -> usize {
                self.d_input
            }

            fn n_layers(&self) -> usize {
                self.n_layers
            }
        }

        impl PlainGraphEncoder for $config {
            const HIDDEN_NAME: &'static str = concat!($name, "-hidden");
            const HIDDEN_TITLE: &'static str = concat!($title, " with hidden noise");

            fn of(d_input: usize, options: &EncoderOptions) -> Result<Self, Failure> {
                let with_projection: fn(Self, Option<usize>) -> Self = $with_projection;
                let mut config = with_projection(Self::new(d_input), options.projection);
                config.n_layers = options.layers.unwrap_or(config.n_layers);
                config.d_hidden = options.width.unwrap_or(config.d_hidden);
                config.check().map_err(Failure::input)?;
                check_weights(<$config>::tensors(&config))?;
                Ok(config)
            }

            fn d_embedding(&self) -> usize {
                self.n_layers.saturating_mul(self.d_hidden)
            }
        }
    };
}

graph_encoder!(GcnConfig, Gcn, "gcn", "a GCN", |config, _| config);
graph_encoder!(GinConfig, Gin, "gin", "a GIN", GinConfig::with_projection);
