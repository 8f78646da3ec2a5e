//! Layers of the networks: an affine map and a layer of long short-term memory.

use burn::module::{Module, Param};
use burn::tensor::activation::{sigmoid, tanh};
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
use rand::{Rng, RngExt};

/// Bound of the initial weights of a head (Lillicrap et al., 2016): initial outputs are close to 0.
pub(super) const HEAD_BOUND: f64 = 3e-3;

/// An affine map x·W + b, `[batch, d_in] → [batch, d_out]`.
///
/// Burn's linear layer draws its weights from a generator of the process, which differs between backends.
/// This layer draws them from a generator that the seed of the agent starts, and they are the same on every backend.
#[derive(Module, Debug)]
pub(crate) struct Affine<B: Backend> {
    /// Weight W `[d_in, d_out]`.
    pub(crate) weight: Param<Tensor<B, 2>>,
    /// Bias b `[1, d_out]`.
    pub(crate) bias: Param<Tensor<B, 2>>,
}

impl<B: Backend> Affine<B> {
    /// Creates a map with weight and bias drawn uniformly from [−`bound`, `bound`].
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

    /// Creates a map with this weight, row after row, and this bias.
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

    /// Applies the map: `[batch, d_in] → [batch, d_out]`.
    pub(crate) fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        x.matmul(self.weight.val()) + self.bias.val()
    }
}

/// One layer of long short-term memory.
///
/// ```text
/// [i, f, o, g] = [x_t, h_{t−1}] W + b
/// c_t = σ(f) ∘ c_{t−1} + σ(i) ∘ tanh(g)
/// h_t = σ(o) ∘ tanh(c_t)
/// ```
///
/// with h_0 = c_0 = 0. The four gates are one matrix product, because the time of a small layer is that of
/// launching its operations.
///
/// Source: Hochreiter and Schmidhuber (1997) with the forget gate of Gers et al. (2000).
#[derive(Module, Debug)]
pub(crate) struct Lstm<B: Backend> {
    /// Map to the gates i, f, o, g, with weight W `[d_in + d_hidden, 4 · d_hidden]`.
    pub(crate) gates: Affine<B>,
}

impl<B: Backend> Lstm<B> {
    /// Creates a layer with weights drawn uniformly from ±1/√d_hidden. Biases are 0, except for 1 at the
    /// forget gate, so that an untrained layer remembers (Gers et al., 2000; Jozefowicz et al., 2015).
    pub(crate) fn init(
        d_in: usize,
        d_hidden: usize,
        rng: &mut impl Rng,
        device: &B::Device,
    ) -> Self {
        let bound = 1.0 / (d_hidden as f64).sqrt();
        let weight = (0..(d_in + d_hidden) * 4 * d_hidden)
            .map(|_| bound * (2.0 * rng.random::<f64>() - 1.0))
            .collect();
        let bias = (0..4 * d_hidden)
            .map(|gate| f64::from(gate / d_hidden == 1))
            .collect();
        Self {
            gates: Affine::new(weight, bias, device),
        }
    }

    /// Computes all hidden states h_1, …, h_T of a sequence x_1, …, x_T. Each x_t is `[batch, d_in]`, each
    /// h_t is `[batch, d_hidden]`.
    pub(crate) fn forward(&self, inputs: Vec<Tensor<B, 2>>) -> Vec<Tensor<B, 2>> {
        let d_hidden = self.gates.bias.dims()[1] / 4;
        let mut hidden: Option<(Tensor<B, 2>, Tensor<B, 2>)> = None;
        let mut outputs = Vec::with_capacity(inputs.len());
        for input in inputs {
            let [batch, _] = input.dims();
            let (cell, output) = hidden.unwrap_or_else(|| {
                let zeros = Tensor::zeros([batch, d_hidden], &input.device());
                (zeros.clone(), zeros)
            });
            let gates = self.gates.forward(Tensor::cat(vec![input, output], 1));
            let open = sigmoid(gates.clone().narrow(1, 0, 3 * d_hidden));
            let candidate = tanh(gates.narrow(1, 3 * d_hidden, d_hidden));
            let gate = |index: usize| open.clone().narrow(1, index * d_hidden, d_hidden);
            let cell = gate(1) * cell + gate(0) * candidate;
            let output = gate(2) * tanh(cell.clone());
            outputs.push(output.clone());
            hidden = Some((cell, output));
        }
        outputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestAutodiff, assert_close, matrix, numbers, to_vec};
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    fn logistic(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }

    #[test]
    fn it_is_the_recurrence_that_it_says() {
        let ([d_in, d_hidden, batch, steps], device) = ([3, 4, 2, 5], Default::default());
        let weight = numbers((d_in + d_hidden) * 4 * d_hidden, 1);
        let bias = numbers(4 * d_hidden, 2);
        let lstm = Lstm::<TestAutodiff> {
            gates: Affine::new(weight.clone(), bias.clone(), &device),
        };
        let inputs: Vec<Vec<f64>> = (0..steps)
            .map(|t| numbers(batch * d_in, 10 + t as u64))
            .collect();
        let tensors = inputs.iter().map(|x| matrix(x, [batch, d_in])).collect();
        let outputs = lstm.forward(tensors);
        assert_eq!(outputs.len(), steps);

        for row in 0..batch {
            let (mut cell, mut hidden) = (vec![0.0; d_hidden], vec![0.0; d_hidden]);
            for (x, output) in inputs.iter().zip(&outputs) {
                let joined: Vec<f64> = x[row * d_in..(row + 1) * d_in]
                    .iter()
                    .chain(&hidden)
                    .copied()
                    .collect();
                // Column `gate · d_hidden + unit` of W, in the order i, f, o, g.
                let before = |gate: usize, unit: usize| {
                    let column = gate * d_hidden + unit;
                    let products = joined
                        .iter()
                        .enumerate()
                        .map(|(k, x)| x * weight[k * 4 * d_hidden + column]);
                    bias[column] + products.sum::<f64>()
                };
                let mut next = vec![0.0; d_hidden];
                for unit in 0..d_hidden {
                    cell[unit] = logistic(before(1, unit)) * cell[unit]
                        + logistic(before(0, unit)) * before(3, unit).tanh();
                    next[unit] = logistic(before(2, unit)) * cell[unit].tanh();
                }
                hidden = next;
                let found = to_vec(output);
                assert_close(&found[row * d_hidden..(row + 1) * d_hidden], &hidden, 1e-5);
            }
        }
    }

    #[test]
    fn a_fresh_layer_remembers() {
        let mut rng = Pcg64::seed_from_u64(1);
        let lstm = Lstm::<TestAutodiff>::init(1, 3, &mut rng, &Default::default());
        let bias = to_vec(&lstm.gates.bias.val());
        let expected = [0., 0., 0., 1., 1., 1., 0., 0., 0., 0., 0., 0.];
        assert_eq!(bias, expected);
        let bound = 1.0 / f64::sqrt(3.0);
        let weight = to_vec(&lstm.gates.weight.val());
        assert!(weight.iter().all(|w| w.abs() <= bound));
        assert!(weight.iter().any(|w| *w > 0.8 * bound));
        assert!(weight.iter().any(|w| *w < -0.8 * bound));
    }
}
