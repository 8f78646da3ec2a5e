//! The paper's graph encoder: graph convolutions with a readout after each layer.

use burn::config::Config;
use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};
use icl_core::graph::GraphBatch;
use icl_core::{Batches, Encoder, Error, Mode, Rng, SampleError, Seed};
use icl_kernels::DropoutMask;
use icl_kernels::graph::{NormActivation, norm_activation};

use crate::batch_norm::BatchStatistics;
use crate::checks::{check_epsilon, check_fields};
use crate::graph_conv::{GraphConv, GraphConvConfig};
use crate::readout::Readout;

/// Configuration of [`Gcn`].
///
/// The defaults are the paper's encoder with the details of its authors' code: 2 layers of width 32,
/// normalisation without affine terms, leaky ReLU, dropout 0.5.
#[derive(Config, Debug)]
pub struct GcnConfig {
    /// Width of the node features.
    pub d_input: usize,
    /// Width of each layer.
    #[config(default = 32)]
    pub d_hidden: usize,
    /// Number of layers.
    #[config(default = 2)]
    pub n_layers: usize,
    /// Probability of dropping an element of a layer's output in training, in [0, 1).
    #[config(default = 0.5)]
    pub dropout: f64,
    /// Reduction of each layer's nodes to one vector per graph.
    #[config(default = "Readout::Sum")]
    pub readout: Readout,
    /// Slope of the leaky ReLU below 0.
    #[config(default = 0.01)]
    pub negative_slope: f64,
    /// Constant ε added to the variance in normalisation.
    #[config(default = 1e-5)]
    pub epsilon: f64,
}

impl GcnConfig {
    /// Checks the configuration.
    ///
    /// # Errors
    /// [`Error`] if a width or the number of layers is 0, the dropout is not in [0, 1), ε is not
    /// above 0 or the slope is not finite.
    pub fn check(&self) -> Result<(), Error> {
        check_fields([
            ("d_input", self.d_input),
            ("d_hidden", self.d_hidden),
            ("n_layers", self.n_layers),
        ])?;
        let dropout = self.dropout;
        Error::unless(
            (0.0..1.0).contains(&dropout),
            "dropout",
            dropout,
            "a number from 0 to below 1",
        )?;
        check_epsilon(self.epsilon)?;
        let slope = self.negative_slope;
        Error::unless(
            slope.is_finite(),
            "negative_slope",
            slope,
            "a finite number",
        )
    }

    /// Returns the name and the shape of each tensor of the encoder. No tensor is allocated, so a file can
    /// be checked before an encoder is created from it.
    pub fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        let (d_input, d_hidden) = (self.d_input, self.d_hidden);
        let of_layer = move |layer: usize| {
            let width = if layer == 0 { d_input } else { d_hidden };
            [
                (
                    format!("convolutions.{layer}.weight"),
                    vec![width, d_hidden],
                ),
                (format!("statistics.{layer}.mean"), vec![d_hidden]),
                (format!("statistics.{layer}.variance"), vec![d_hidden]),
            ]
        };
        (0..self.n_layers).flat_map(of_layer)
    }

    /// Creates an encoder with weights drawn from `seed`, the same on every backend.
    ///
    /// # Errors
    /// [`Error`] if a width or the number of layers is 0, the dropout is not in [0, 1), ε is not
    /// above 0 or the slope is not finite.
    pub fn try_init<B: Backend>(&self, seed: Seed, device: &B::Device) -> Result<Gcn<B>, Error> {
        self.check()?;
        let layer = |index: usize| {
            let d_input = if index == 0 {
                self.d_input
            } else {
                self.d_hidden
            };
            // Normalisation subtracts the mean and with it any bias, so there is none.
            GraphConvConfig::new(d_input, self.d_hidden)
                .with_bias(false)
                .init(seed.at(index as u64), device)
        };
        Ok(Gcn {
            convolutions: (0..self.n_layers).map(layer).collect(),
            statistics: (0..self.n_layers)
                .map(|_| BatchStatistics::new(self.d_hidden, device))
                .collect(),
            readout: self.readout,
            dropout: self.dropout,
            negative_slope: self.negative_slope,
            epsilon: self.epsilon,
        })
    }

    /// Creates an encoder with weights drawn from `seed`, the same on every backend.
    ///
    /// # Panics
    /// If [`try_init`](Self::try_init) returns an error, with its message.
    pub fn init<B: Backend>(&self, seed: Seed, device: &B::Device) -> Gcn<B> {
        self.try_init(seed, device)
            .unwrap_or_else(|error| panic!("{error}"))
    }
}

/// A graph convolutional network (Kipf and Welling, 2017) as encoder φ(·; θ).
///
/// ```text
/// H₀ = node features
/// Hₗ = dropout(leaky_relu(norm(Â·Hₗ₋₁·Wₗ)))
/// φ  = readout(H₁) ‖ … ‖ readout(H_L)            [n_graphs, n_layers · d_hidden]
/// ```
///
/// Training normalises by the statistics of the batch, evaluation by those that
/// [`recalibrated`](Encoder::recalibrated) has set, and training with [frozen
/// statistics](Encoder::with_frozen_statistics) by these, too.
///
/// Deviation from the authors' code: the convolutions have no bias. The normalisation after them
/// would remove it, and an optimizer that rescales gradients would only make it drift.
#[derive(Module, Debug)]
pub struct Gcn<B: Backend> {
    convolutions: Vec<GraphConv<B>>,
    statistics: Vec<BatchStatistics<B>>,
    #[module(skip)]
    readout: Readout,
    dropout: f64,
    negative_slope: f64,
    epsilon: f64,
}

impl<B: Backend> Gcn<B> {
    /// Output of a layer in training, given that of its convolution.
    fn training_step(&self, layer: usize, x: Tensor<B, 2>, rng: &mut Rng) -> Tensor<B, 2> {
        let mask = (self.dropout > 0.0).then(|| {
            let n_elements = x.dims().iter().product();
            DropoutMask::draw(n_elements, self.dropout, rng)
        });
        if self.statistics[layer].is_frozen() {
            let y = self.evaluation_step(layer, x);
            return match mask {
                Some(mask) => y.clone() * mask.tensor(y.dims(), &y.device(), y.dtype()),
                None => y,
            };
        }
        norm_activation(self.options(), x, mask).0
    }

    /// Output of a layer in evaluation, given that of its convolution.
    fn evaluation_step(&self, layer: usize, x: Tensor<B, 2>) -> Tensor<B, 2> {
        let normal = self.statistics[layer].normalize(x, self.epsilon);
        burn::tensor::activation::leaky_relu(normal, self.negative_slope)
    }

    fn options(&self) -> NormActivation {
        NormActivation {
            epsilon: self.epsilon,
            negative_slope: self.negative_slope,
        }
    }
}

impl<B: Backend> Encoder<B> for Gcn<B> {
    type Batch = GraphBatch<B>;

    /// Measured by `icl compare-backends` on PROTEINS, batch 32, two cores, flex: the median of three seeds.
    const FORWARD_SHARE: f64 = 0.57;

    fn encode(&self, batch: GraphBatch<B>, mut mode: Mode<'_>) -> Tensor<B, 2> {
        let mut x = batch.features.clone();
        let mut readouts = Vec::with_capacity(self.convolutions.len());
        for (layer, convolution) in self.convolutions.iter().enumerate() {
            let propagated = convolution.forward(&batch, x);
            x = match &mut mode {
                Mode::Training(rng) => self.training_step(layer, propagated, rng),
                Mode::Evaluation => self.evaluation_step(layer, propagated),
            };
            readouts.push(self.readout.forward(&batch, x.clone()));
        }
        Tensor::cat(readouts, 1)
    }

    /// Re-estimates the statistics layer by layer.
    ///
    /// The statistics of a layer are those of its convolution's output over all nodes of all
    /// batches, with the layers below normalised by their new statistics. They do not depend on how
    /// samples are batched. The batches are passed once per layer.
    ///
    /// # Panics
    /// If there are no batches.
    fn recalibrated(mut self, batches: &Batches<'_, GraphBatch<B>>) -> Result<Self, SampleError> {
        for layer in 0..self.convolutions.len() {
            let outputs = |batch: GraphBatch<B>| {
                let mut x = batch.features.clone();
                for below in 0..layer {
                    x = self.evaluation_step(below, self.convolutions[below].forward(&batch, x));
                }
                self.convolutions[layer].forward(&batch, x)
            };
            self.statistics[layer] = self.statistics[layer].clone().estimate(batches, outputs)?;
        }
        Ok(self)
    }

    fn with_frozen_statistics(mut self, is_frozen: bool) -> Self {
        let statistics = self.statistics.into_iter();
        self.statistics = statistics.map(|it| it.frozen(is_frozen)).collect();
        self
    }
}
