//! Transitions as tensors.

use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};

use crate::history::shifted;
use crate::replay::Transition;

/// A batch of transitions on a device.
pub(crate) struct Minibatch<B: Backend> {
    /// The states up to the action, oldest first, each `[batch, d_state]`.
    pub(crate) window: Vec<Tensor<B, 2>>,
    /// The same one step later.
    pub(crate) next_window: Vec<Tensor<B, 2>>,
    /// `[batch, 1]`.
    pub(crate) actions: Tensor<B, 2>,
    /// `[batch, 1]`.
    pub(crate) rewards: Tensor<B, 2>,
    /// 1 − terminated, `[batch, 1]`. Truncation plays no part in it.
    pub(crate) continues: Tensor<B, 2>,
}

impl<B: Backend> Minibatch<B> {
    /// Uploads these transitions.
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
            window: window(&windows, d_state, device),
            next_window: window(&next, d_state, device),
            actions: column(|t| t.action),
            rewards: column(|t| t.reward),
            continues: column(|t| f64::from(!t.terminated)),
        }
    }

    /// The latest states, `[batch, d_state]`.
    pub(crate) fn states(&self) -> Tensor<B, 2> {
        latest(&self.window)
    }

    /// The states after the action, `[batch, d_state]`.
    pub(crate) fn next_states(&self) -> Tensor<B, 2> {
        latest(&self.next_window)
    }
}

fn latest<B: Backend>(window: &[Tensor<B, 2>]) -> Tensor<B, 2> {
    window[window.len() - 1].clone()
}

/// Windows, each `[history · d_state]`, as `history` tensors `[batch, d_state]`.
pub(crate) fn window<B: Backend>(
    windows: &[&[f64]],
    d_state: usize,
    device: &B::Device,
) -> Vec<Tensor<B, 2>> {
    let history = windows.first().map_or(0, |states| states.len() / d_state);
    (0..history)
        .map(|t| {
            let values: Vec<f64> = windows
                .iter()
                .flat_map(|states| &states[t * d_state..(t + 1) * d_state])
                .copied()
                .collect();
            Tensor::from_data(TensorData::new(values, [windows.len(), d_state]), device)
        })
        .collect()
}
