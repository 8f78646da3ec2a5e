//! The multilayer perceptron, an encoder of rows of a table.

use burn::config::Config;
use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};
use icl_core::{Batches, Encoder, Error, Mode, SampleError, Seed};

use crate::checks::{check_epsilon, check_fields};
use crate::head::{ProjectionHead, ProjectionHeadConfig, projected};
use crate::hidden_layer::{HiddenLayer, hidden_layer_tensors};
use crate::normalization::{BatchNorm, Normalised, Statistics};

/// Configuration of [`Mlp`].
///
/// The defaults are a shallow encoder. DACL (Verma et al., 2021, section 5.1) has 12 layers and a head of 3; its text
/// states no widths, so 256 is our choice. In a prototype on Fashion-MNIST, 12 layers lost what a linear map of the
/// pixels keeps.
#[derive(Config, Debug, PartialEq)]
pub struct MlpConfig {
    /// Number of columns of the input.
    pub d_input: usize,
    /// Number of layers.
    #[config(default = 3)]
    pub n_layers: usize,
    /// Width of each layer.
    #[config(default = 256)]
    pub width: usize,
    /// Width d of the output of a projection head on the last layer, which the contrastive losses take;
    /// without it they take the last layer.
    pub projection: Option<usize>,
    /// Number of affine layers of the projection head, whose hidden layers have the width of the last
    /// layer and are normalised.
    #[config(default = 3)]
    pub n_projection_layers: usize,
    /// Constant ε added to the variance in normalisation.
    #[config(default = 1e-5)]
    pub epsilon: f64,
}

impl MlpConfig {
    /// Checks the configuration.
    ///
    /// # Errors
    /// [`Error`] if a width or a number of layers is 0, or ε is not above 0.
    pub fn check(&self) -> Result<(), Error> {
        check_fields([
            ("d_input", Some(self.d_input)),
            ("n_layers", Some(self.n_layers)),
            ("width", Some(self.width)),
            ("projection", self.projection),
            ("n_projection_layers", Some(self.n_projection_layers)),
        ])?;
        check_epsilon(self.epsilon)
    }

    /// Creates an encoder with weights drawn from `seed`: the same on every backend, and the same below
    /// the head with and without a head.
    ///
    /// Weights are uniform in ±1/√d of the width d of a layer's input, as is PyTorch's default; γ is 1
    /// and β is 0.
    ///
    /// # Errors
    /// [`Error`] if a width or a number of layers is 0, or ε is not above 0.
    pub fn try_init<B: Backend>(&self, seed: Seed, device: &B::Device) -> Result<Mlp<B>, Error> {
        self.check()?;
        let layer = |index: usize| {
            let seed = seed.child("layers").at(index as u64);
            HiddenLayer::new(self.widths(index), Some(self.epsilon), seed, device)
        };
        let head = |head: ProjectionHeadConfig| head.init(seed.child("projection"), device);
        Ok(Mlp {
            layers: (0..self.n_layers).map(layer).collect(),
            projection: self.head().map(head),
        })
    }

    /// Creates an encoder with weights drawn from `seed`, as [`try_init`](Self::try_init) does.
    ///
    /// # Panics
    /// If [`try_init`](Self::try_init) returns an error, with its message.
    pub fn init<B: Backend>(&self, seed: Seed, device: &B::Device) -> Mlp<B> {
        self.try_init(seed, device)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the name and the shape of each tensor of the encoder, in the order and with the names
    /// that collecting the tensors of the module gives.
    ///
    /// No tensor is allocated, so a file can be checked before an encoder is created from it.
    pub fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        let layer = |index: usize| {
            hidden_layer_tensors(&format!("layers.{index}"), self.widths(index), true)
        };
        let head = self.head().map(|head| head.tensors_at("projection"));
        (0..self.n_layers)
            .flat_map(layer)
            .chain(head.into_iter().flatten())
    }

    /// Returns the widths of the input and the output of a layer.
    fn widths(&self, layer: usize) -> [usize; 2] {
        let d_input = if layer == 0 { self.d_input } else { self.width };
        [d_input, self.width]
    }

    /// Returns the configuration of the projection head, if there is one.
    fn head(&self) -> Option<ProjectionHeadConfig> {
        self.projection.map(|d_output| ProjectionHeadConfig {
            d_input: self.width,
            d_output,
            n_layers: self.n_projection_layers,
            norm: true,
            epsilon: self.epsilon,
        })
    }
}

/// A multilayer perceptron as encoder φ(·; θ) of rows `[n, d_input]`, such as standardised rows of a
/// table.
///
/// ```text
/// X₀ = rows
/// Xₗ = relu(norm(Xₗ₋₁·Wₗ))       n_layers layers                [n, width]
/// h  = X_L
/// φ  = g(h) with a projection head g, else h
/// ```
///
/// [`encode`](Encoder::encode) returns φ, which the losses take; [`embed`](Encoder::embed) returns h.
/// Normalisation has affine terms γ and β. The encoder has no randomness, so training does not use the
/// generator of [`Mode::Training`].
///
/// Training normalises by the statistics of the batch and leaves those of the population unchanged.
/// [`recalibrated`](Encoder::recalibrated) sets the latter; each clone has its own. Before that they are
/// mean 0 and variance 1.
///
/// Source: the encoder and head for tables of DACL (Verma et al., 2021, section 5.1), with batch
/// normalisation and ReLU on all hidden layers. Deviation: the affine layers before a normalisation
/// have no bias, which the normalisation would subtract.
///
/// ```
/// use burn::backend::Flex;
/// use burn::tensor::Tensor;
/// use icl_core::{Encoder, Mode, Seed};
/// use icl_models::{Mlp, MlpConfig};
///
/// let device = Default::default();
/// let config = MlpConfig::new(16).with_width(32).with_projection(Some(8));
/// let encoder: Mlp<Flex> = config.init(Seed::new(1), &device);
/// let rows = Tensor::zeros([5, 16], &device);
/// assert_eq!(encoder.encode(rows.clone(), Mode::Evaluation).dims(), [5, 8]);
/// assert_eq!(encoder.embed(rows).dims(), [5, 32]);
/// ```
#[derive(Module, Debug)]
pub struct Mlp<B: Backend> {
    layers: Vec<HiddenLayer<B>>,
    projection: Option<ProjectionHead<B>>,
}

impl<B: Backend> Mlp<B> {
    /// Computes h, normalised by `statistics`.
    fn features(&self, rows: Tensor<B, 2>, statistics: &mut Statistics<'_>) -> Tensor<B, 2> {
        let found = rows.dims()[1];
        let expected = self.layers[0].d_input();
        assert_eq!(
            found, expected,
            "rows have {found} columns, the encoder takes {expected}"
        );
        let layers = self.layers.iter();
        layers.fold(rows, |x, layer| layer.forward(x, statistics))
    }
}

impl<B: Backend> Normalised<B> for Mlp<B> {
    type Batch = Tensor<B, 2>;

    fn norms_mut(&mut self) -> Vec<&mut BatchNorm<B>> {
        let layers = self.layers.iter_mut().filter_map(HiddenLayer::norm_mut);
        let head = self
            .projection
            .iter_mut()
            .flat_map(ProjectionHead::norms_mut);
        layers.chain(head).collect()
    }

    /// Computes φ.
    fn pass(&self, batch: Tensor<B, 2>, statistics: &mut Statistics<'_>) -> Tensor<B, 2> {
        let features = self.features(batch, statistics);
        projected(self.projection.as_ref(), features, statistics)
    }
}

impl<B: Backend> Encoder<B> for Mlp<B> {
    type Batch = Tensor<B, 2>;

    /// Measured by `icl compare-backends` on the digits, batch 32, two cores, flex: the median of three seeds.
    const FORWARD_SHARE: f64 = 0.30;

    /// Encodes rows `[n, d_input]` into φ.
    ///
    /// # Panics
    /// If the number of columns is not `d_input`.
    fn encode(&self, batch: Tensor<B, 2>, mode: Mode<'_>) -> Tensor<B, 2> {
        self.pass(batch, &mut Statistics::of(&mode))
    }

    /// Encodes rows `[n, d_input]` into h, without the projection head.
    ///
    /// # Panics
    /// If the number of columns is not `d_input`.
    fn embed(&self, batch: Tensor<B, 2>) -> Tensor<B, 2> {
        self.features(batch, &mut Statistics::Population)
    }

    /// Re-estimates the statistics of all layers, those of the head included, in one pass over the
    /// batches, in which each layer normalises by the statistics of the batch, as
    /// [`ResNet`](crate::ResNet) does: a pass for each layer would be 14 passes for the paper's encoder
    /// and head. The statistics of layers above the first depend slightly on the composition of the
    /// batches, but on nothing else than the parameters and the batches.
    ///
    /// No graph is recorded, and memory is that of one batch.
    ///
    /// # Panics
    /// If there are no batches.
    fn recalibrated(self, batches: &Batches<'_, Tensor<B, 2>>) -> Result<Self, SampleError> {
        self.with_estimates(batches)
    }

    fn with_frozen_statistics(self, is_frozen: bool) -> Self {
        self.with_frozen_norms(is_frozen)
    }
}
