//! Windows of the last states of an episode, the input of a recurrent actor.

use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
use serde::{Deserialize, Serialize};

/// The window of the last `n` states of an episode, oldest first. The first state of the episode is
/// repeated in place of those before it, so that the window is always full.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct History {
    n: usize,
    states: Vec<f64>,
}

impl History {
    /// Creates an empty window for `n` states.
    pub(crate) fn new(n: usize) -> Self {
        Self {
            n,
            states: Vec::new(),
        }
    }

    /// Appends the next state and drops the oldest. The first state fills the window.
    pub(crate) fn push(&mut self, state: &[f64]) {
        if self.states.is_empty() {
            self.states = state.repeat(self.n);
        } else {
            self.states = shifted(&self.states, state);
        }
    }

    /// Returns the states `[n · d_state]`, one after the other; empty before the first state.
    pub(crate) fn states(&self) -> &[f64] {
        &self.states
    }

    /// Removes all states.
    pub(crate) fn clear(&mut self) {
        self.states.clear();
    }
}

/// Returns a full window without its oldest state and with one more.
pub(super) fn shifted(window: &[f64], state: &[f64]) -> Vec<f64> {
    [&window[state.len()..], state].concat()
}

/// Converts windows, each `[history · d_state]`, to `history` tensors `[batch, d_state]`.
pub(crate) fn to_tensors<B: Backend>(
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_the_last_states_and_fills_up_with_the_first() {
        let mut history = History::new(3);
        assert!(history.states().is_empty());
        history.push(&[1.0, 2.0]);
        assert_eq!(history.states(), [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
        history.push(&[3.0, 4.0]);
        assert_eq!(history.states(), [1.0, 2.0, 1.0, 2.0, 3.0, 4.0]);
        history.push(&[5.0, 6.0]);
        history.push(&[7.0, 8.0]);
        assert_eq!(history.states(), [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        history.clear();
        history.push(&[9.0, 9.0]);
        assert_eq!(history.states(), [9.0; 6]);
    }
}
