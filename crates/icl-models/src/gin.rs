//! The graph isomorphism network, with a readout after each layer.

use burn::config::Config;
use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};
use icl_core::graph::GraphBatch;
use icl_core::{Batches, Encoder, Error, Mode, SampleError, Seed};

use crate::checks::{check_epsilon, check_fields};
use crate::gin_layer::{GinLayer, neighbourhood};
use crate::head::{ProjectionHead, ProjectionHeadConfig, projected};
use crate::linear::{Linear, linear_tensors};
use crate::normalization::{BatchNorm, Normalised, Statistics, norm_tensors};
use crate::readout::Readout;

/// Configuration of [`Gin`].
///
/// DACL (Verma et al., 2021, section 5.3) and InfoGraph (Sun et al., 2020) take 4 layers of width 512;
/// the default width is that of [`GcnConfig`](crate::GcnConfig), so that both encoders can be compared.
#[derive(Config, Debug, PartialEq)]
pub struct GinConfig {
    /// Width of the node features.
    pub d_input: usize,
    /// Width of each layer.
    #[config(default = 32)]
    pub d_hidden: usize,
    /// Number of layers.
    #[config(default = 4)]
    pub n_layers: usize,
    /// Constant ε of (1 + ε)·x, the share of a node's own features in the sum over its neighbourhood. It
    /// is not trained.
    #[config(default = 0.0)]
    pub epsilon_gin: f64,
    /// Reduction of each layer's nodes to one vector per graph.
    #[config(default = "Readout::Sum")]
    pub readout: Readout,
    /// Width d of the output of a projection head on the readouts, which the contrastive losses take;
    /// without it they take the readouts.
    pub projection: Option<usize>,
    /// Number of affine layers of the projection head, whose hidden layers have the width
    /// n_layers · d_hidden of the readouts and are normalised.
    #[config(default = 3)]
    pub n_projection_layers: usize,
    /// Constant ε added to the variance in normalisation.
    #[config(default = 1e-5)]
    pub epsilon: f64,
}

impl GinConfig {
    /// Checks the configuration.
    ///
    /// # Errors
    /// [`Error`] if a width or a number of layers is 0, `epsilon` is not above 0 or `epsilon_gin` is
    /// not finite.
    pub fn check(&self) -> Result<(), Error> {
        check_fields([
            ("d_input", Some(self.d_input)),
            ("d_hidden", Some(self.d_hidden)),
            ("n_layers", Some(self.n_layers)),
            ("projection", self.projection),
            ("n_projection_layers", Some(self.n_projection_layers)),
        ])?;
        check_epsilon(self.epsilon)?;
        let epsilon = self.epsilon_gin;
        Error::unless(
            epsilon.is_finite(),
            "epsilon_gin",
            epsilon,
            "a finite number",
        )
    }

    /// Creates an encoder with weights drawn from `seed`: the same on every backend, and the same below
    /// the head with and without a head.
    ///
    /// Weights and biases are uniform in ±1/√d of the width d of a map's input, as is PyTorch's default;
    /// γ is 1 and β is 0.
    ///
    /// # Errors
    /// [`Error`] if a width or a number of layers is 0, `epsilon` is not above 0 or `epsilon_gin` is
    /// not finite.
    pub fn try_init<B: Backend>(&self, seed: Seed, device: &B::Device) -> Result<Gin<B>, Error> {
        self.check()?;
        let layer = |index: usize| {
            let seed = seed.child("layers").at(index as u64);
            let [first, second] = self.widths(index);
            GinLayer {
                first: Linear::new(first, seed.child("first"), device),
                second: Linear::new(second, seed.child("second"), device),
                norm: BatchNorm::new(self.d_hidden, self.epsilon, device),
            }
        };
        let head = |head: ProjectionHeadConfig| head.init(seed.child("projection"), device);
        Ok(Gin {
            layers: (0..self.n_layers).map(layer).collect(),
            projection: self.head().map(head),
            readout: self.readout,
            epsilon_gin: self.epsilon_gin,
        })
    }

    /// Creates an encoder with weights drawn from `seed`, as [`try_init`](Self::try_init) does.
    ///
    /// # Panics
    /// If [`try_init`](Self::try_init) returns an error, with its message.
    pub fn init<B: Backend>(&self, seed: Seed, device: &B::Device) -> Gin<B> {
        self.try_init(seed, device)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the name and the shape of each tensor of the encoder, in the order and with the names
    /// that collecting the tensors of the module gives.
    ///
    /// No tensor is allocated, so a file can be checked before an encoder is created from it.
    pub fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        let layer = |index: usize| {
            let at = |name: &str| format!("layers.{index}.{name}");
            let [first, second] = self.widths(index);
            linear_tensors(&at("first"), first)
                .into_iter()
                .chain(linear_tensors(&at("second"), second))
                .chain(norm_tensors(&at("norm"), self.d_hidden))
        };
        let head = self.head().map(|head| head.tensors_at("projection"));
        (0..self.n_layers)
            .flat_map(layer)
            .chain(head.into_iter().flatten())
    }

    /// Returns the widths of the input and the output of both affine maps of a layer.
    fn widths(&self, layer: usize) -> [[usize; 2]; 2] {
        let d_input = if layer == 0 {
            self.d_input
        } else {
            self.d_hidden
        };
        [[d_input, self.d_hidden], [self.d_hidden; 2]]
    }

    /// Returns the configuration of the projection head, if there is one.
    fn head(&self) -> Option<ProjectionHeadConfig> {
        self.projection.map(|d_output| ProjectionHeadConfig {
            // No product of a damaged file overflows; its tensors are compared before any is made.
            d_input: self.n_layers.saturating_mul(self.d_hidden),
            d_output,
            n_layers: self.n_projection_layers,
            norm: true,
            epsilon: self.epsilon,
        })
    }
}

/// A graph isomorphism network (Xu, Hu, Leskovec and Jegelka, 2019, Eq. 4.1) as encoder φ(·; θ).
///
/// ```text
/// X₀ = node features
/// Xₗ = norm(relu(relu(S·W₁ + b₁)·W₂ + b₂))      S = (1 + ε)·Xₗ₋₁ + Σ over neighbours of Xₗ₋₁
/// h  = readout(X₁) ‖ … ‖ readout(X_L)           [n_graphs, n_layers · d_hidden]
/// φ  = g(h) with a projection head g, else h
/// ```
///
/// [`encode`](Encoder::encode) returns φ, which the losses take; [`embed`](Encoder::embed) returns h.
/// The order of ReLU and normalisation, and the concatenated sums, are those of InfoGraph's code (Sun et
/// al., 2020), whose encoder DACL takes for graphs (Verma et al., 2021, section 5.3). ε is a constant, 0
/// there. The encoder has no randomness, so training does not use the generator of [`Mode::Training`].
///
/// Training normalises by the statistics of the nodes of the batch and leaves those of the population
/// unchanged. [`recalibrated`](Encoder::recalibrated) sets the latter; each clone has its own. Before
/// that they are mean 0 and variance 1.
#[derive(Module, Debug)]
pub struct Gin<B: Backend> {
    layers: Vec<GinLayer<B>>,
    projection: Option<ProjectionHead<B>>,
    #[module(skip)]
    readout: Readout,
    epsilon_gin: f64,
}

impl<B: Backend> Gin<B> {
    /// Computes h, normalised by `statistics`.
    fn features(&self, batch: &GraphBatch<B>, statistics: &mut Statistics<'_>) -> Tensor<B, 2> {
        let found = batch.features.dims()[1];
        let expected = self.layers[0].first.weight.val().dims()[0];
        assert_eq!(
            found, expected,
            "node features have {found} columns, the encoder takes {expected}"
        );
        let neighbourhood = neighbourhood(&batch.propagation, self.epsilon_gin);
        let mut x = batch.features.clone();
        let mut readouts = Vec::with_capacity(self.layers.len());
        for layer in &self.layers {
            x = layer.forward(&neighbourhood, x, statistics);
            readouts.push(self.readout.forward(batch, x.clone()));
        }
        Tensor::cat(readouts, 1)
    }
}

impl<B: Backend> Normalised<B> for Gin<B> {
    type Batch = GraphBatch<B>;

    fn norms_mut(&mut self) -> Vec<&mut BatchNorm<B>> {
        let layers = self.layers.iter_mut().map(|layer| &mut layer.norm);
        let head = self
            .projection
            .iter_mut()
            .flat_map(ProjectionHead::norms_mut);
        layers.chain(head).collect()
    }

    /// Computes φ.
    fn pass(&self, batch: GraphBatch<B>, statistics: &mut Statistics<'_>) -> Tensor<B, 2> {
        let features = self.features(&batch, statistics);
        projected(self.projection.as_ref(), features, statistics)
    }
}

impl<B: Backend> Encoder<B> for Gin<B> {
    type Batch = GraphBatch<B>;

    /// Measured by `icl compare-backends` on PROTEINS, batch 32, two cores, flex: the median of three seeds.
    const FORWARD_SHARE: f64 = 0.41;

    /// Encodes graphs into φ.
    ///
    /// # Panics
    /// If the width of the node features is not `d_input`.
    fn encode(&self, batch: GraphBatch<B>, mode: Mode<'_>) -> Tensor<B, 2> {
        self.pass(batch, &mut Statistics::of(&mode))
    }

    /// Encodes graphs into h, without the projection head.
    ///
    /// # Panics
    /// If the width of the node features is not `d_input`.
    fn embed(&self, batch: GraphBatch<B>) -> Tensor<B, 2> {
        self.features(&batch, &mut Statistics::Population)
    }

    /// Re-estimates the statistics of all layers, those of the head included, in one pass over the
    /// batches, in which each layer normalises by the statistics of the batch, as
    /// [`ResNet`](crate::ResNet) does and in contrast to [`Gcn`](crate::Gcn), which passes the batches
    /// once per layer. The statistics of layers above the first depend slightly on the composition of
    /// the batches, but on nothing besides the parameters and the batches.
    ///
    /// No graph is recorded, and memory is that of one batch.
    ///
    /// # Panics
    /// If there are no batches.
    fn recalibrated(self, batches: &Batches<'_, GraphBatch<B>>) -> Result<Self, SampleError> {
        self.with_estimates(batches)
    }

    fn with_frozen_statistics(self, is_frozen: bool) -> Self {
        self.with_frozen_norms(is_frozen)
    }
}
