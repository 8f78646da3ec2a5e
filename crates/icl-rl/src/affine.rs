//! x W + b, with weights that are drawn on the host.

use burn::module::{Module, Param};
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
use rand::{Rng, RngExt};

/// An affine map, `[batch, d_in] → [batch, d_out]`.
///
/// Burn's own linear layer fuses the two operations and draws its weights from a generator that
/// belongs to the process and differs between backends; here they come from the agent's seed and
/// are the same everywhere.
#[derive(Module, Debug)]
pub(crate) struct Affine<B: Backend> {
    /// `[d_in, d_out]`.
    pub(crate) weight: Param<Tensor<B, 2>>,
    /// `[1, d_out]`.
    pub(crate) bias: Param<Tensor<B, 2>>,
}

impl<B: Backend> Affine<B> {
    /// Weights and bias uniform on [−`bound`, `bound`].
    pub(crate) fn uniform(
        [d_in, d_out]: [usize; 2],
        bound: f64,
        rng: &mut impl Rng,
        device: &B::Device,
    ) -> Self {
        let mut draw = |n: usize| -> Vec<f64> {
            (0..n)
                .map(|_| bound * (2.0 * rng.random::<f64>() - 1.0))
                .collect()
        };
        let (weight, bias) = (draw(d_in * d_out), draw(d_out));
        Self::new(weight, bias, device)
    }

    /// These weights, row after row, and this bias.
    pub(crate) fn new(weight: Vec<f64>, bias: Vec<f64>, device: &B::Device) -> Self {
        let d_out = bias.len();
        let rows = weight.len() / d_out;
        let param = |values: Vec<f64>, shape: [usize; 2]| {
            Param::from_tensor(Tensor::from_data(TensorData::new(values, shape), device))
        };
        Self {
            weight: param(weight, [rows, d_out]),
            bias: param(bias, [1, d_out]),
        }
    }

    /// `[batch, d_in] → [batch, d_out]`.
    pub(crate) fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        x.matmul(self.weight.val()) + self.bias.val()
    }
}
