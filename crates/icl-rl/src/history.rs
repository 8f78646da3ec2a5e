//! The last states of an episode: what a recurrent actor looks at.

use serde::{Deserialize, Serialize};

/// A window of the last `n` states, oldest first. A state of an episode's beginning stands for all
/// that would lie before it, so that the window is always full.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct History {
    n: usize,
    states: Vec<f64>,
}

impl History {
    /// An empty window for `n` states.
    pub(crate) fn new(n: usize) -> Self {
        Self {
            n,
            states: Vec::new(),
        }
    }

    /// Takes in the next state.
    pub(crate) fn push(&mut self, state: &[f64]) {
        if self.states.is_empty() {
            self.states = state.repeat(self.n);
        } else {
            self.states = shifted(&self.states, state);
        }
    }

    /// `[n · d_state]`, state after state; empty before the first.
    pub(crate) fn states(&self) -> &[f64] {
        &self.states
    }

    /// Forgets all states.
    pub(crate) fn clear(&mut self) {
        self.states.clear();
    }
}

/// A full window without its oldest state and with one more.
pub(crate) fn shifted(window: &[f64], state: &[f64]) -> Vec<f64> {
    [&window[state.len()..], state].concat()
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
