//! The critic Q(s, a | θ^Q), the value of an action in a state.

use burn::module::Module;
use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use burn::tensor::backend::Backend;
use rand::Rng;

use super::layers::{Affine, HEAD_BOUND};

/// Three affine layers on the latest state and the action.
///
/// ```text
/// Q(s, a) = w · relu(relu([s, a] W₁ + b₁) W₂ + b₂) + b
/// ```
///
/// Source: "a three-layer neural network (NN) with 10 hidden units is used as the critic network"
/// (ICL, section 4.1); the rectifiers and the initial weights (uniform on ±1/√fan-in, ±3e-3 in the
/// head) are those of Lillicrap et al. (2016).
#[derive(Module, Debug)]
pub(crate) struct Critic<B: Backend> {
    pub(crate) first: Affine<B>,
    pub(crate) second: Affine<B>,
    pub(crate) head: Affine<B>,
}

impl<B: Backend> Critic<B> {
    /// Creates a critic whose weights are drawn from `rng`.
    pub(crate) fn init(
        d_state: usize,
        d_hidden: usize,
        rng: &mut impl Rng,
        device: &B::Device,
    ) -> Self {
        let mut layer = |d_in: usize| {
            let bound = 1.0 / (d_in as f64).sqrt();
            Affine::uniform([d_in, d_hidden], bound, rng, device)
        };
        Self {
            first: layer(d_state + 1),
            second: layer(d_hidden),
            head: Affine::uniform([d_hidden, 1], HEAD_BOUND, rng, device),
        }
    }

    /// Computes the values `[batch, 1]` of actions `[batch, 1]` in states `[batch, d_state]`.
    pub(crate) fn forward(&self, states: Tensor<B, 2>, actions: Tensor<B, 2>) -> Tensor<B, 2> {
        let x = Tensor::cat(vec![states, actions], 1);
        let x = relu(self.first.forward(x));
        let x = relu(self.second.forward(x));
        self.head.forward(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestAutodiff, assert_close, finite_difference, matrix, numbers, to_vec};

    const D_STATE: usize = 3;
    const D_HIDDEN: usize = 4;
    const BATCH: usize = 5;
    /// The parameters, one tensor after the other: W₁, b₁, W₂, b₂, w, b.
    const SIZES: [usize; 6] = [
        (D_STATE + 1) * D_HIDDEN,
        D_HIDDEN,
        16,
        D_HIDDEN,
        D_HIDDEN,
        1,
    ];

    fn split(parameters: &[f64]) -> Vec<Vec<f64>> {
        let mut rest = parameters;
        let take = |n: &usize| {
            let (head, tail) = rest.split_at(*n);
            rest = tail;
            head.to_vec()
        };
        SIZES.iter().map(take).collect()
    }

    /// Q(s, a) by scalar loops.
    fn by_loops(parameters: &[f64], state: &[f64], action: f64) -> f64 {
        let p = split(parameters);
        let layer = |x: &[f64], weight: &[f64], bias: &[f64], rectify: bool| -> Vec<f64> {
            let mut y = bias.to_vec();
            for (column, y) in y.iter_mut().enumerate() {
                for (row, x) in x.iter().enumerate() {
                    *y += x * weight[row * bias.len() + column];
                }
                if rectify && *y < 0.0 {
                    *y = 0.0;
                }
            }
            y
        };
        let x: Vec<f64> = state.iter().chain([&action]).copied().collect();
        let x = layer(&x, &p[0], &p[1], true);
        let x = layer(&x, &p[2], &p[3], true);
        layer(&x, &p[4], &p[5], false)[0]
    }

    #[test]
    fn values_and_gradients_are_those_of_plain_loops() {
        let device = Default::default();
        let parameters = numbers(SIZES.iter().sum(), 3);
        let mut p = split(&parameters).into_iter();
        let mut affine = || {
            let (weight, bias) = (p.next().unwrap(), p.next().unwrap());
            Affine::new(weight, bias, &device)
        };
        let critic = Critic::<TestAutodiff> {
            first: affine(),
            second: affine(),
            head: affine(),
        };
        let (states, actions) = (numbers(BATCH * D_STATE, 4), numbers(BATCH, 5));
        let action_tensor = matrix(&actions, [BATCH, 1]).require_grad();
        let values = critic.forward(matrix(&states, [BATCH, D_STATE]), action_tensor.clone());

        let all = |parameters: &[f64], actions: &[f64]| -> Vec<f64> {
            let rows = states.chunks(D_STATE).zip(actions);
            rows.map(|(s, a)| by_loops(parameters, s, *a)).collect()
        };
        assert_close(&to_vec(&values), &all(&parameters, &actions), 1e-5);

        let gradients = values.sum().backward();
        let sum = |parameters: &[f64]| all(parameters, &actions).iter().sum();
        let expected = finite_difference(sum, &parameters, 1e-6);
        let mut found = Vec::new();
        for layer in [&critic.first, &critic.second, &critic.head] {
            found.extend(to_vec(&layer.weight.val().grad(&gradients).unwrap()));
            found.extend(to_vec(&layer.bias.val().grad(&gradients).unwrap()));
        }
        assert_close(&found, &expected, 1e-5);

        // What the actor learns from: dQ/da.
        let sum = |actions: &[f64]| all(&parameters, actions).iter().sum();
        let expected = finite_difference(sum, &actions, 1e-6);
        let found = to_vec(&action_tensor.grad(&gradients).unwrap());
        assert_close(&found, &expected, 1e-5);
        assert!(expected.iter().any(|slope| slope.abs() > 0.01));
    }
}
