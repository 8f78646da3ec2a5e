//! Batch normalisation with affine terms (Ioffe and Szegedy, 2015).

use std::collections::HashMap;

use burn::module::{Module, Param, ParamId};
use burn::tensor::Tensor;

use crate::batch_norm::{BatchStatistics, Moments};
use crate::image_ops::ImageBackend;

/// By which statistics a pass normalises.
#[derive(Debug)]
pub(crate) enum Statistics<'a> {
    /// Those of the batch; the population's are left alone.
    Batch,
    /// Those of the population.
    Population,
    /// Those of the batch, and each layer's input is taken into account for the population's.
    Gathered(&'a mut Gathered),
}

/// What the layers saw in the passes so far, each under the identity of its γ.
#[derive(Debug, Default)]
pub(crate) struct Gathered(HashMap<ParamId, Moments>);

/// One layer of normalisation.
///
/// Burn's own layer keeps moving averages, which its clones share: a teacher, an inner loop and the
/// encoder would write into one another's. Here the population's statistics are set by
/// recalibration or by loaded weights alone.
#[derive(Module, Debug)]
pub(crate) struct BatchNorm<B: ImageBackend> {
    /// γ `[channels]`.
    pub(crate) weight: Param<Tensor<B, 1>>,
    /// β `[channels]`.
    pub(crate) bias: Param<Tensor<B, 1>>,
    /// Of the population.
    pub(crate) statistics: BatchStatistics<B>,
    epsilon: f64,
}

impl<B: ImageBackend> BatchNorm<B> {
    /// γ = 1, β = 0, and a population of mean 0 and variance 1.
    pub(crate) fn new(channels: usize, epsilon: f64, device: &B::Device) -> Self {
        Self {
            weight: Param::from_tensor(Tensor::ones([channels], device)),
            bias: Param::from_tensor(Tensor::zeros([channels], device)),
            statistics: BatchStatistics::new(channels, device),
            epsilon,
        }
    }

    /// `relu(norm(x) + residual)` of `[n, h, w, channels]`, ReLU only if asked for.
    pub(crate) fn forward(
        &self,
        x: Tensor<B, 4>,
        residual: Option<Tensor<B, 4>>,
        relu: bool,
        statistics: &mut Statistics<'_>,
    ) -> Tensor<B, 4> {
        let affine = [self.weight.val(), self.bias.val()];
        match statistics {
            Statistics::Population => {
                let [scale, shift] = self.statistics.scale_shift(affine, self.epsilon);
                return B::scale_shift(x, scale, shift, residual, relu);
            }
            Statistics::Gathered(gathered) => {
                let [n, height, width, channels] = x.dims();
                let moments = gathered.0.entry(self.weight.id);
                moments
                    .or_insert_with(|| Moments::new(channels))
                    .add(x.clone().reshape([n, height * width, channels]));
            }
            Statistics::Batch => {}
        }
        B::batch_norm(x, affine, residual, self.epsilon, relu)
    }

    /// Sets the population's statistics to what was gathered.
    ///
    /// # Panics
    /// If nothing was.
    pub(crate) fn set_population(&mut self, gathered: &Gathered) {
        let moments = gathered.0.get(&self.weight.id);
        let moments = moments.expect("statistics need at least one batch");
        self.statistics = self.statistics.clone().of(moments);
    }
}
