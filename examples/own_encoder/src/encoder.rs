//! The encoder, of Burn's stock layers.

use burn::module::Module;
use burn::nn::conv::{Conv1d, Conv1dConfig};
use burn::nn::{Linear, LinearConfig};
use burn::tensor::activation::gelu;
use burn::tensor::{Tensor, backend::Backend};
use icl::models::BatchStatistics;
use icl::prelude::*;

/// ε, added to variances in normalisation.
const EPSILON: f64 = 1e-5;

/// Two convolutions, the mean over time, normalisation, a linear layer.
#[derive(Module, Debug)]
pub struct WaveEncoder<B: Backend> {
    first: Conv1d<B>,
    second: Conv1d<B>,
    statistics: BatchStatistics<B>,
    last: Linear<B>,
}

impl<B: Backend> WaveEncoder<B> {
    /// Creates an encoder with parameters drawn from `seed`.
    pub fn init(seed: Seed, device: &B::Device) -> Self {
        B::seed(device, seed.value());
        let encoder = Self {
            first: Conv1dConfig::new(1, 16, 7).with_stride(2).init(device),
            second: Conv1dConfig::new(16, 32, 5).with_stride(2).init(device),
            statistics: BatchStatistics::new(32, device),
            last: LinearConfig::new(32, 16).init(device),
        };
        // Stock layers draw their parameters at their first use, and a clone that is made before that draws
        // others. Counting is such a use.
        println!("an encoder of {} values", encoder.num_params());
        encoder
    }

    /// Computes the features `[n, 32]` of waves `[n, 1, length]`, before normalisation.
    fn pooled(&self, waves: Tensor<B, 3>) -> Tensor<B, 2> {
        let features = gelu(self.second.forward(gelu(self.first.forward(waves))));
        features.mean_dim(2).squeeze_dim(2)
    }
}

// ANCHOR: encoder
impl<B: Backend> Encoder<B> for WaveEncoder<B> {
    type Batch = Tensor<B, 3>;

    fn encode(&self, batch: Tensor<B, 3>, mode: Mode<'_>) -> Tensor<B, 2> {
        let pooled = self.pooled(batch);
        let normal = match mode {
            Mode::Training(_) if !self.statistics.is_frozen() => {
                let centred = pooled.clone() - pooled.mean_dim(0);
                let variance = centred.clone().square().mean_dim(0);
                centred / (variance + EPSILON).sqrt()
            }
            _ => self.statistics.normalize(pooled, EPSILON),
        };
        self.last.forward(normal)
    }
    // ANCHOR_END: encoder

    // ANCHOR: recalibrated
    /// Only an encoder that keeps statistics next to its parameters needs this.
    fn recalibrated(self, batches: &Batches<'_, Tensor<B, 3>>) -> Result<Self, SampleError> {
        let statistics = self.statistics.clone();
        let statistics = statistics.estimate(batches, |batch| self.pooled(batch))?;
        Ok(Self { statistics, ..self })
    }

    fn with_frozen_statistics(self, is_frozen: bool) -> Self {
        let statistics = self.statistics.clone().frozen(is_frozen);
        Self { statistics, ..self }
    }
    // ANCHOR_END: recalibrated
}
