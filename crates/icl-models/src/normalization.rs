//! Batch normalisation with affine terms (Ioffe and Szegedy, 2015).

use std::collections::HashMap;

use burn::module::{Module, Param, ParamId};
use burn::tensor::{Tensor, backend::Backend};
use icl_core::{Batches, Mode, SampleError};
use icl_kernels::image;

use crate::batch_norm::{BatchStatistics, Moments};

/// The statistics by which a pass normalises.
#[derive(Debug)]
pub(crate) enum Statistics<'a> {
    /// Statistics of the batch, but for layers whose statistics are frozen; those of the population stay unchanged.
    Batch,
    /// Statistics of the population.
    Population,
    /// The same, while the inputs of each layer are gathered for the statistics of the population.
    Gathered(&'a mut Gathered),
}

impl Statistics<'_> {
    /// Returns the statistics by which a mode normalises.
    pub(crate) fn of(mode: &Mode<'_>) -> Self {
        match mode {
            Mode::Training(_) => Self::Batch,
            Mode::Evaluation => Self::Population,
        }
    }
}

/// Moments of the inputs of each layer in the passes so far, by the identity of the layer's γ, which a frozen copy of
/// the encoder shares with the original.
#[derive(Debug, Default)]
pub(crate) struct Gathered(HashMap<ParamId, Moments>);

impl Gathered {
    /// Passes the batches of this member of a group through an encoder, by `pass`.
    ///
    /// # Errors
    /// The error of a batch that could not be made.
    pub(crate) fn over<T>(
        batches: &Batches<'_, T>,
        mut pass: impl FnMut(T, &mut Statistics<'_>),
    ) -> Result<Self, SampleError> {
        let mut gathered = Self::default();
        for batch in batches.own() {
            pass(batch?, &mut Statistics::Gathered(&mut gathered));
        }
        Ok(gathered)
    }
}

/// An encoder whose layers normalise by [`BatchNorm`].
pub(crate) trait Normalised<B: Backend>: Module<B> {
    /// Batch of the encoder.
    type Batch;

    /// Returns the normalisations of all layers.
    fn norms_mut(&mut self) -> Vec<&mut BatchNorm<B>>;

    /// Passes a batch through all layers, normalised by `statistics`.
    fn pass(&self, batch: Self::Batch, statistics: &mut Statistics<'_>) -> Tensor<B, 2>;

    /// Re-estimates the statistics of all layers that are not frozen, in one pass over the batches without a graph. If
    /// there is no such layer, no batch is passed.
    ///
    /// # Errors
    /// The error of a batch that could not be made, or of a member that has left the group.
    ///
    /// # Panics
    /// If there are no batches.
    fn with_estimates(mut self, batches: &Batches<'_, Self::Batch>) -> Result<Self, SampleError> {
        let without_graph = self.clone().no_grad();
        let mut norms = self.norms_mut();
        norms.retain(|norm| !norm.statistics.is_frozen());
        if norms.is_empty() {
            return Ok(self);
        }
        let gathered = Gathered::over(batches, |batch, statistics| {
            without_graph.pass(batch, statistics);
        })?;
        for norm in norms {
            norm.set_population(&gathered, batches)?;
        }
        Ok(self)
    }

    /// Freezes the statistics of all layers, or frees them.
    fn with_frozen_norms(mut self, is_frozen: bool) -> Self {
        for norm in self.norms_mut() {
            norm.statistics = norm.statistics.clone().frozen(is_frozen);
        }
        self
    }
}

/// A layer of batch normalisation.
///
/// Burn's own layer keeps moving averages that its clones share, so a teacher, an inner loop and the
/// encoder would change one another's. Here only recalibration and loaded weights set the statistics
/// of the population.
#[derive(Module, Debug)]
pub(crate) struct BatchNorm<B: Backend> {
    /// Factor γ `[channels]`.
    pub(crate) weight: Param<Tensor<B, 1>>,
    /// Offset β `[channels]`.
    pub(crate) bias: Param<Tensor<B, 1>>,
    /// Statistics of the population.
    pub(crate) statistics: BatchStatistics<B>,
    epsilon: f64,
}

impl<B: Backend> BatchNorm<B> {
    /// Creates a layer with γ = 1, β = 0 and a population of mean 0 and variance 1.
    pub(crate) fn new(channels: usize, epsilon: f64, device: &B::Device) -> Self {
        Self {
            weight: Param::from_tensor(Tensor::ones([channels], device)),
            bias: Param::from_tensor(Tensor::zeros([channels], device)),
            statistics: BatchStatistics::new(channels, device),
            epsilon,
        }
    }

    /// Computes `relu(norm(x) + residual)` `[n, h, w, channels]`, with or without ReLU and residual.
    pub(crate) fn forward(
        &self,
        x: Tensor<B, 4>,
        residual: Option<Tensor<B, 4>>,
        relu: bool,
        statistics: &mut Statistics<'_>,
    ) -> Tensor<B, 4> {
        let affine = [self.weight.val(), self.bias.val()];
        if self.statistics.is_frozen() || matches!(statistics, Statistics::Population) {
            let [scale, shift] = self.statistics.scale_shift(affine, self.epsilon);
            return image::scale_shift(x, scale, shift, residual, relu);
        }
        if let Statistics::Gathered(gathered) = statistics {
            let [n, height, width, channels] = x.dims();
            let moments = gathered.0.entry(self.weight.id);
            moments
                .or_insert_with(|| Moments::new(channels))
                .add(x.clone().reshape([n, height * width, channels]));
        }
        image::batch_norm(x, affine, residual, self.epsilon, relu)
    }

    /// Computes norm(x), or relu(norm(x)) if `relu` is true, of the rows of `x` `[n, channels]`: those of
    /// images of one pixel.
    pub(crate) fn forward_rows(
        &self,
        x: Tensor<B, 2>,
        relu: bool,
        statistics: &mut Statistics<'_>,
    ) -> Tensor<B, 2> {
        let [n, channels] = x.dims();
        self.forward(x.reshape([n, 1, 1, channels]), None, relu, statistics)
            .reshape([n, channels])
    }

    /// Sets the statistics of the population to those gathered over the batches by all members of a group.
    ///
    /// # Errors
    /// If a member has left the group.
    ///
    /// # Panics
    /// If no member has gathered anything for this layer.
    pub(crate) fn set_population<T>(
        &mut self,
        gathered: &Gathered,
        batches: &Batches<'_, T>,
    ) -> Result<(), SampleError> {
        let none = || Moments::new(self.statistics.width());
        let own = gathered.0.get(&self.weight.id).cloned();
        let moments = own.unwrap_or_else(none).of_all(batches)?;
        self.statistics = self.statistics.clone().of(&moments);
        Ok(())
    }
}

/// Names and shapes of the tensors of a [`BatchNorm`] at the path `name`.
pub(crate) fn norm_tensors(name: &str, channels: usize) -> [(String, Vec<usize>); 4] {
    ["weight", "bias", "statistics.mean", "statistics.variance"]
        .map(|tensor| (format!("{name}.{tensor}"), vec![channels]))
}
