//! The affine map, differentiable twice.

use burn::module::{Module, Param};
use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl_core::Seed;
use rand::RngExt;

/// The affine map x·W + b.
///
/// Burn's own layer is a fused operation that cannot be differentiated twice, which meta-gradients
/// need.
#[derive(Module, Debug)]
pub(crate) struct Linear<B: Backend> {
    /// Weight W `[d_input, d_output]`.
    pub(crate) weight: Param<Tensor<B, 2>>,
    /// Bias b `[d_output]`.
    pub(crate) bias: Param<Tensor<B, 1>>,
}

impl<B: Backend> Linear<B> {
    /// Creates a map with weight and bias drawn from `seed`, uniform in ±1/√d_input as is PyTorch's
    /// default.
    pub(crate) fn new([d_input, d_output]: [usize; 2], seed: Seed, device: &B::Device) -> Self {
        let bound = (d_input as f32).sqrt().recip();
        let mut rng = seed.rng();
        let mut draw =
            |n: usize| -> Vec<f32> { (0..n).map(|_| rng.random_range(-bound..bound)).collect() };
        let weight = TensorData::new(draw(d_input * d_output), [d_input, d_output]);
        let bias = TensorData::new(draw(d_output), [d_output]);
        Self {
            weight: Param::from_tensor(Tensor::from_data(weight, device)),
            bias: Param::from_tensor(Tensor::from_data(bias, device)),
        }
    }

    /// Maps `[n, d_input]` to `[n, d_output]`.
    pub(crate) fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        x.matmul(self.weight.val()) + self.bias.val().unsqueeze()
    }
}

/// Names and shapes of the tensors of a [`Linear`] at the path `name`.
pub(crate) fn linear_tensors(
    name: &str,
    [d_input, d_output]: [usize; 2],
) -> [(String, Vec<usize>); 2] {
    [
        (format!("{name}.weight"), vec![d_input, d_output]),
        (format!("{name}.bias"), vec![d_output]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::backend::Autodiff;
    use icl_core::testing::{TestAutodiff, TestBackend, assert_close, to_vec};

    #[test]
    fn it_can_be_differentiated_twice() {
        type Twice = Autodiff<TestAutodiff>;
        let device = Default::default();
        let layer = Linear::<Twice>::new([2, 3], Seed::new(1), &device);
        let x = Tensor::<TestAutodiff, 2>::from_data([[0.5, -2.0]], &device).require_grad();
        let outer = Tensor::<Twice, 2>::from_inner(x.clone()).require_grad();
        let loss = layer.forward(outer.clone()).powi_scalar(2).sum();
        let gradient = outer.grad(&loss.backward()).unwrap();
        // ∇ sum(∇ sum((x·W + b)²)) = 2·W·Wᵀ·1
        let second = x.grad(&gradient.sum().backward()).unwrap();
        let weight = to_vec(&layer.weight.val());
        let column_sums = |j: usize| weight[j] + weight[3 + j];
        let row = |i: usize| {
            (0..3)
                .map(|j| 2.0 * weight[3 * i + j] * column_sums(j))
                .sum::<f64>()
        };
        assert_close(&to_vec::<TestBackend, 2>(&second), &[row(0), row(1)], 1e-5);
    }
}
