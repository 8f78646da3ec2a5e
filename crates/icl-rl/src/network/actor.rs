//! The actor μ(s | θ^μ), which maps the last states to an action.

use burn::module::Module;
use burn::tensor::Tensor;
use burn::tensor::activation::tanh;
use burn::tensor::backend::Backend;
use rand::Rng;

use super::layers::{Affine, HEAD_BOUND, Lstm};

/// Two layers of long short-term memory over a window of states, with a linear head.
///
/// ```text
/// μ(s_{t−T+1}, …, s_t) = tanh(w · h²_T + b)  ∈ [−1, 1]
/// ```
///
/// Source: "a two-layer LSTM with 20 hidden units is used as the actor network" (ICL, section 4.1).
#[derive(Module, Debug)]
pub(crate) struct Actor<B: Backend> {
    pub(crate) first: Lstm<B>,
    pub(crate) second: Lstm<B>,
    pub(crate) head: Affine<B>,
}

impl<B: Backend> Actor<B> {
    /// Creates an actor whose weights are drawn from `rng`.
    pub(crate) fn init(
        d_state: usize,
        d_hidden: usize,
        rng: &mut impl Rng,
        device: &B::Device,
    ) -> Self {
        Self {
            first: Lstm::init(d_state, d_hidden, rng, device),
            second: Lstm::init(d_hidden, d_hidden, rng, device),
            head: Affine::uniform([d_hidden, 1], HEAD_BOUND, rng, device),
        }
    }

    /// Computes the actions `[batch, 1]` for a window of states, oldest first, each `[batch, d_state]`.
    ///
    /// # Panics
    /// If the window is empty.
    pub(crate) fn forward(&self, window: Vec<Tensor<B, 2>>) -> Tensor<B, 2> {
        let hidden = self.second.forward(self.first.forward(window));
        match hidden.into_iter().next_back() {
            Some(last) => tanh(self.head.forward(last)),
            None => panic!("window: found 0 states, expected at least 1"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestAutodiff, assert_close, finite_difference, matrix, numbers, to_vec};
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    const D_STATE: usize = 2;
    const D: usize = 3;
    const STEPS: usize = 4;
    const BATCH: usize = 2;
    /// The parameters, one tensor after the other: W and b of both layers and of the head.
    const SIZES: [usize; 6] = [(D_STATE + D) * 4 * D, 4 * D, 2 * D * 4 * D, 4 * D, D, 1];

    fn split(parameters: &[f64]) -> Vec<Vec<f64>> {
        let mut rest = parameters;
        let take = |n: &usize| {
            let (head, tail) = rest.split_at(*n);
            rest = tail;
            head.to_vec()
        };
        SIZES.iter().map(take).collect()
    }

    /// One step of one layer by scalar loops; the gates lie in the order i, f, o, g.
    fn step(weight: &[f64], bias: &[f64], x: &[f64], cell: &mut [f64], hidden: &mut [f64]) {
        let before = |column: usize| {
            let mut sum = bias[column];
            for (row, value) in x.iter().chain(hidden.iter()).enumerate() {
                sum += value * weight[row * 4 * D + column];
            }
            sum
        };
        let logistic = |x: f64| 1.0 / (1.0 + f64::exp(-x));
        let mut next = [0.0; D];
        for unit in 0..D {
            cell[unit] = logistic(before(D + unit)) * cell[unit]
                + logistic(before(unit)) * before(3 * D + unit).tanh();
            next[unit] = logistic(before(2 * D + unit)) * cell[unit].tanh();
        }
        hidden.copy_from_slice(&next);
    }

    /// μ of one window, `[STEPS][D_STATE]`, by scalar loops.
    fn by_loops(parameters: &[f64], window: &[Vec<f64>]) -> f64 {
        let p = split(parameters);
        let (mut c1, mut h1, mut c2, mut h2) = ([0.0; D], [0.0; D], [0.0; D], [0.0; D]);
        for state in window {
            step(&p[0], &p[1], state, &mut c1, &mut h1);
            step(&p[2], &p[3], &h1, &mut c2, &mut h2);
        }
        let mut sum = p[5][0];
        for unit in 0..D {
            sum += h2[unit] * p[4][unit];
        }
        sum.tanh()
    }

    #[test]
    fn actions_and_gradients_are_those_of_plain_loops() {
        let device = Default::default();
        let parameters = numbers(SIZES.iter().sum(), 3);
        let mut p = split(&parameters).into_iter();
        let mut affine = || {
            let (weight, bias) = (p.next().unwrap(), p.next().unwrap());
            Affine::new(weight, bias, &device)
        };
        let actor = Actor::<TestAutodiff> {
            first: Lstm { gates: affine() },
            second: Lstm { gates: affine() },
            head: affine(),
        };
        let states: Vec<Vec<f64>> = (0..STEPS)
            .map(|t| numbers(BATCH * D_STATE, 20 + t as u64))
            .collect();
        let window = states.iter().map(|s| matrix(s, [BATCH, D_STATE])).collect();
        let actions = actor.forward(window);

        let all = |parameters: &[f64]| -> Vec<f64> {
            let of_row = |row: usize| -> Vec<Vec<f64>> {
                let cut = |s: &Vec<f64>| s[row * D_STATE..(row + 1) * D_STATE].to_vec();
                states.iter().map(cut).collect()
            };
            (0..BATCH)
                .map(|row| by_loops(parameters, &of_row(row)))
                .collect()
        };
        assert_close(&to_vec(&actions), &all(&parameters), 1e-5);

        let gradients = actions.sum().backward();
        let sum = |parameters: &[f64]| all(parameters).iter().sum();
        let expected = finite_difference(sum, &parameters, 1e-5);
        let mut found = Vec::new();
        for layer in [&actor.first.gates, &actor.second.gates, &actor.head] {
            found.extend(to_vec(&layer.weight.val().grad(&gradients).unwrap()));
            found.extend(to_vec(&layer.bias.val().grad(&gradients).unwrap()));
        }
        assert_close(&found, &expected, 1e-5);
        assert!(expected[0].abs() > 1e-4, "the oldest state counts");
    }

    #[test]
    fn first_answers_are_near_zero_and_fixed_by_the_seed() {
        let answer = |seed: u64| {
            let mut rng = Pcg64::seed_from_u64(seed);
            let actor = Actor::<TestAutodiff>::init(2, 20, &mut rng, &Default::default());
            let window = (0..8).map(|t| matrix(&numbers(2, t), [1, 2])).collect();
            to_vec(&actor.forward(window))[0]
        };
        for seed in 0..20 {
            // |w · h + b| ≤ 21 · 3e-3, for |h| < 1.
            assert!(answer(seed).abs() <= 21.0 * HEAD_BOUND);
        }
        assert_eq!(answer(3), answer(3));
        assert_ne!(answer(3), answer(4));
    }
}
