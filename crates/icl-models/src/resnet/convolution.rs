//! A convolution with the normalisation behind it.

use burn::module::{Module, Param};
use burn::tensor::{Tensor, TensorData};
use icl_core::Seed;
use rand_distr::{Distribution, StandardNormal};

use super::normalization::{BatchNorm, Statistics};
use crate::image_ops::{ImageBackend, Window};

/// `relu(norm(x ∗ W) + residual)`, ReLU and residual where they are asked for.
///
/// Every convolution of the network is normalised, so none has a bias: the normalisation would take
/// it out again.
#[derive(Module, Debug)]
pub(crate) struct Convolution<B: ImageBackend> {
    /// W `[c_out, c_in, size, size]`.
    pub(crate) weight: Param<Tensor<B, 4>>,
    /// The normalisation of its output.
    pub(crate) norm: BatchNorm<B>,
    #[module(skip)]
    window: Window,
}

impl<B: ImageBackend> Convolution<B> {
    /// Weights of mean 0 and variance 2/(c_out·size²) (He et al., 2015, with the output's fan, as
    /// torchvision draws them), drawn from `seed`: the same on every backend.
    pub(crate) fn new(
        [c_in, c_out]: [usize; 2],
        window: Window,
        epsilon: f64,
        seed: Seed,
        device: &B::Device,
    ) -> Self {
        let shape = [c_out, c_in, window.size, window.size];
        let deviation = (2.0 / (c_out * window.size * window.size) as f64).sqrt();
        let mut rng = seed.rng();
        let draw = |_| {
            let normal: f64 = StandardNormal.sample(&mut rng);
            (deviation * normal) as f32
        };
        let weight: Vec<f32> = (0..shape.iter().product()).map(draw).collect();
        let weight = Tensor::from_data(TensorData::new(weight, shape), device);
        Self {
            weight: Param::from_tensor(weight),
            norm: BatchNorm::new(c_out, epsilon, device),
            window,
        }
    }

    /// `[n, h, w, c_in]` → `[n, h′, w′, c_out]`.
    pub(crate) fn forward(
        &self,
        x: Tensor<B, 4>,
        residual: Option<Tensor<B, 4>>,
        relu: bool,
        statistics: &mut Statistics<'_>,
    ) -> Tensor<B, 4> {
        let y = B::convolution(x, self.weight.val(), self.window);
        self.norm.forward(y, residual, relu, statistics)
    }
}
