//! Minibatches of transitions as tensors, and the targets of the critic.

use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};

use super::buffer::Transition;
use super::window::{shifted, to_tensors};

/// A batch of transitions on a device.
pub(crate) struct Minibatch<B: Backend> {
    /// States up to the action, oldest first, each `[batch, d_state]`.
    pub(crate) window: Vec<Tensor<B, 2>>,
    /// States of the window one step later, each `[batch, d_state]`.
    pub(crate) next_window: Vec<Tensor<B, 2>>,
    /// Actions `[batch, 1]`.
    pub(crate) actions: Tensor<B, 2>,
    /// Rewards `[batch, 1]`.
    pub(crate) rewards: Tensor<B, 2>,
    /// 1 − terminated `[batch, 1]`, independent of truncation.
    pub(crate) continues: Tensor<B, 2>,
}

impl<B: Backend> Minibatch<B> {
    /// Uploads transitions to a device.
    pub(crate) fn new(transitions: &[&Transition], device: &B::Device) -> Self {
        let column = |of: fn(&Transition) -> f64| {
            let values: Vec<f64> = transitions.iter().map(|t| of(t)).collect();
            Tensor::from_data(TensorData::new(values, [transitions.len(), 1]), device)
        };
        let windows: Vec<&[f64]> = transitions.iter().map(|t| t.window.as_slice()).collect();
        let next: Vec<Vec<f64>> = transitions
            .iter()
            .map(|t| shifted(&t.window, &t.next_state))
            .collect();
        let next: Vec<&[f64]> = next.iter().map(Vec::as_slice).collect();
        let d_state = transitions.first().map_or(1, |t| t.next_state.len());
        Self {
            window: to_tensors(&windows, d_state, device),
            next_window: to_tensors(&next, d_state, device),
            actions: column(|t| t.action),
            rewards: column(|t| t.reward),
            continues: column(|t| f64::from(!t.terminated)),
        }
    }

    /// Returns the latest states `[batch, d_state]`.
    pub(crate) fn states(&self) -> Tensor<B, 2> {
        latest(&self.window)
    }

    /// Returns the states after the action `[batch, d_state]`.
    pub(crate) fn next_states(&self) -> Tensor<B, 2> {
        latest(&self.next_window)
    }
}

fn latest<B: Backend>(window: &[Tensor<B, 2>]) -> Tensor<B, 2> {
    window[window.len() - 1].clone()
}

/// Computes the targets of temporal-difference learning.
///
/// ```text
/// y = r + γ · (1 − terminated) · Q′(s′, μ′(s′))
/// ```
///
/// `continues` is 1 − terminated. An episode that was cut off (truncated) would have continued, so its
/// last state keeps its value (Pardo et al., 2018). All tensors are `[batch, 1]`.
///
/// Source: Lillicrap et al. (2016), whose formula has no terminal states.
pub(crate) fn td_target<B: Backend>(
    rewards: Tensor<B, 2>,
    continues: Tensor<B, 2>,
    next_values: Tensor<B, 2>,
    discount: f64,
) -> Tensor<B, 2> {
    // Algorithm 1 of Lillicrap et al. (2016), with terminal states
    rewards + continues * next_values * discount
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestAutodiff, assert_close, matrix, to_vec};

    #[test]
    fn only_termination_cuts_the_value_of_what_follows() {
        let cases = [
            // terminated, truncated, r, Q′, y = r + 0.9 Q′ unless terminated
            (false, false, 0.5, 2.0, 2.3),
            (true, false, 0.5, 2.0, 0.5),
            (false, true, 0.5, 2.0, 2.3),
            (true, true, -1.0, -4.0, -1.0),
            (false, true, -1.0, -4.0, -4.6),
        ];
        let transitions = cases.map(|(terminated, truncated, reward, _, _)| Transition {
            window: vec![0.25, 0.5],
            action: 0.125,
            reward,
            next_state: vec![0.75],
            terminated,
            truncated,
        });
        let references: Vec<&Transition> = transitions.iter().collect();
        let batch = Minibatch::<TestAutodiff>::new(&references, &Default::default());
        let next_values = matrix(&cases.map(|case| case.3), [5, 1]);
        let targets = td_target(batch.rewards, batch.continues, next_values, 0.9);
        assert_close(&to_vec(&targets), &cases.map(|case| case.4), 1e-6);
    }

    #[test]
    fn windows_are_laid_out_by_time() {
        let at = |offset: f64| Transition {
            window: (0..6).map(|k| offset + f64::from(k)).collect(),
            action: offset,
            reward: 0.0,
            next_state: vec![offset + 6.0, offset + 7.0],
            terminated: false,
            truncated: false,
        };
        let (a, b) = (at(0.0), at(100.0));
        let batch = Minibatch::<TestAutodiff>::new(&[&a, &b], &Default::default());
        let rows = |window: &[_]| window.iter().map(to_vec).collect::<Vec<_>>();
        assert_eq!(
            rows(&batch.window),
            [
                [0., 1., 100., 101.],
                [2., 3., 102., 103.],
                [4., 5., 104., 105.]
            ]
        );
        assert_eq!(
            rows(&batch.next_window),
            [
                [2., 3., 102., 103.],
                [4., 5., 104., 105.],
                [6., 7., 106., 107.]
            ]
        );
        assert_eq!(to_vec(&batch.states()), [4., 5., 104., 105.]);
        assert_eq!(to_vec(&batch.next_states()), [6., 7., 106., 107.]);
        assert_eq!(to_vec(&batch.actions), [0., 100.]);
    }
}
