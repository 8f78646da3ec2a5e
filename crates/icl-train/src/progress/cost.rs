//! The cost of a run, by purpose.

use std::cell::Cell;

use icl_core::Purpose;
use serde::{Deserialize, Serialize};

/// Cost of a run by purpose, in full passes: a view that passes forward and backward through the encoder is
/// 1, one that passes only forward is [`Encoder::FORWARD_SHARE`](icl_core::Encoder::FORWARD_SHARE).
///
/// The share is a constant of the encoder: a ratio that is measured in each run would make records of the same seed
/// differ.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Cost {
    /// Losses whose gradient is applied to the encoder.
    pub training: f64,
    /// Embeddings of the teacher of a distillation term.
    pub teacher: f64,
    /// Inner steps of meta-optimization (Eq. 11), and the Hessian-vector products of their second order.
    pub support: f64,
    /// Losses that the agents of learned rates compare.
    pub agents: f64,
    /// Evaluations that decide something: when to stop, which encoder to keep, and the number of negatives. The
    /// re-estimation of normalisation statistics counts as the encoder does it: once for each time that it
    /// goes through the views.
    #[serde(alias = "steering")]
    pub monitoring: f64,
    /// Statistics of normalisation of the encoder that is handed out; 0 in older records.
    #[serde(default)]
    pub statistics: f64,
    /// Evaluations that decide nothing, charged to nobody.
    pub measuring: f64,
}

impl Cost {
    /// Returns what the method itself has used, in full passes: everything but `measuring`.
    pub fn charged(&self) -> f64 {
        let of_losses = self.training + self.teacher + self.support + self.agents;
        of_losses + self.monitoring + self.statistics
    }
}

/// Passes since the last step, by purpose.
#[derive(Debug)]
pub(crate) struct PassCounter {
    /// Cost of a pass without a gradient.
    pub(crate) forward_share: f64,
    purpose: Cell<Purpose>,
    /// Whether the passes have no gradient.
    is_forward: Cell<bool>,
    cost: Cell<Cost>,
    n_views: Cell<u64>,
}

impl PassCounter {
    /// Creates a counter at 0.
    pub(crate) fn new(forward_share: f64) -> Self {
        Self {
            forward_share,
            purpose: Cell::default(),
            is_forward: Cell::default(),
            cost: Cell::default(),
            n_views: Cell::default(),
        }
    }

    /// Sets the purpose of the passes that follow, whose gradient is computed.
    pub(crate) fn begin(&self, purpose: Purpose) {
        self.purpose.set(purpose);
        self.is_forward.set(false);
    }

    /// Sets the purpose of the passes that follow, whose gradient is not computed.
    pub(crate) fn begin_forward(&self, purpose: Purpose) {
        self.purpose.set(purpose);
        self.is_forward.set(true);
    }

    /// Counts views that pass through the encoder.
    pub(crate) fn count(&self, n_views: usize) {
        let share = if self.is_forward.get() {
            self.forward_share
        } else {
            1.0
        };
        let n = n_views as f64 * share;
        let mut cost = self.cost.get();
        match self.purpose.get() {
            Purpose::Training => cost.training += n,
            Purpose::Support => cost.support += n,
            Purpose::Agents => cost.agents += n,
        }
        self.cost.set(cost);
        self.n_views.set(self.n_views.get() + n_views as u64);
    }

    /// Counts views that pass through the teacher, which has no gradient.
    pub(crate) fn count_teacher(&self, n_views: usize) {
        let mut cost = self.cost.get();
        cost.teacher += n_views as f64 * self.forward_share;
        self.cost.set(cost);
        self.n_views.set(self.n_views.get() + n_views as u64);
    }

    /// Adds the passes to the cost of a run, and returns the number of views that passed in training.
    pub(crate) fn take(&self, cost: &mut Cost) -> u64 {
        let of = self.cost.take();
        cost.training += of.training;
        cost.teacher += of.teacher;
        cost.support += of.support;
        cost.agents += of.agents;
        self.n_views.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_are_charged_to_their_purpose() {
        let counter = PassCounter::new(0.25);
        counter.count(8);
        counter.begin(Purpose::Support);
        counter.count(4);
        counter.begin_forward(Purpose::Agents);
        counter.count(6);
        counter.begin(Purpose::Agents);
        counter.count(2);
        counter.count_teacher(3);
        let mut cost = Cost {
            training: 1.0,
            monitoring: 10.0,
            statistics: 0.5,
            measuring: 100.0,
            ..Cost::default()
        };
        assert_eq!(counter.take(&mut cost), 23);
        let expected = Cost {
            training: 9.0,
            teacher: 0.75,
            support: 4.0,
            agents: 1.5 + 2.0,
            monitoring: 10.0,
            statistics: 0.5,
            measuring: 100.0,
        };
        assert_eq!(cost, expected);
        assert_eq!(cost.charged(), 9.0 + 0.75 + 4.0 + 3.5 + 10.0 + 0.5);
        assert_eq!(counter.take(&mut cost), 0);
    }
}
