//! A convolution followed by normalisation.

use burn::module::{Module, Param};
use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl_core::Seed;
use icl_kernels::image::{self, Window};
use rand_distr::{Distribution, StandardNormal};

use crate::normalization::{BatchNorm, Statistics, norm_tensors};

/// The layer `relu(norm(x ∗ W) + residual)`, with or without ReLU and residual.
///
/// Every convolution is normalised, so none has a bias: the normalisation would subtract it.
#[derive(Module, Debug)]
pub(crate) struct Convolution<B: Backend> {
    /// Weight W `[c_out, c_in, size, size]`.
    pub(crate) weight: Param<Tensor<B, 4>>,
    /// Normalisation of the output.
    pub(crate) norm: BatchNorm<B>,
    #[module(skip)]
    window: Window,
}

impl<B: Backend> Convolution<B> {
    /// Creates a layer with weights drawn from `seed`, the same on every backend: normal with mean 0
    /// and variance 2/(c_out·size²) (He et al., 2015, by the fan of the output, as in torchvision).
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

    /// Maps `[n, h, w, c_in]` to `[n, h′, w′, c_out]`.
    pub(crate) fn forward(
        &self,
        x: Tensor<B, 4>,
        residual: Option<Tensor<B, 4>>,
        relu: bool,
        statistics: &mut Statistics<'_>,
    ) -> Tensor<B, 4> {
        let y = image::convolution(x, self.weight.val(), self.window);
        self.norm.forward(y, residual, relu, statistics)
    }
}

/// Returns the name and the shape of each tensor of the [`Convolution`] of this name in a module.
pub(crate) fn convolution_tensors(
    name: &str,
    [c_in, c_out]: [usize; 2],
    size: usize,
) -> [(String, Vec<usize>); 5] {
    let weight = (format!("{name}.weight"), vec![c_out, c_in, size, size]);
    let [gamma, beta, mean, variance] = norm_tensors(&format!("{name}.norm"), c_out);
    [weight, gamma, beta, mean, variance]
}

/// Returns the means over height and width of `[n, h, w, c]`: `[n, c]`.
pub(crate) fn means_over_places<B: Backend>(x: Tensor<B, 4>) -> Tensor<B, 2> {
    let [n, height, width, channels] = x.dims();
    x.reshape([n, height * width, channels])
        .mean_dim(1)
        .reshape([n, channels])
}
