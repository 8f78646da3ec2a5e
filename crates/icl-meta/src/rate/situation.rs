//! The input of a learning-rate policy.

use burn::optim::GradientsParams;
use serde::{Deserialize, Serialize};

/// State of a step, from which a policy chooses the step's learning rate.
#[derive(Debug)]
pub struct Situation<'a, M> {
    /// Index of the step in the run, counted from 0.
    pub step: u64,
    /// Whether a policy that acts only every few steps acts in this step.
    pub acts: bool,
    /// Loss of the step's batch at the current encoder, in nats.
    pub loss: f64,
    /// Losses before and after the policy's last act, if the policy acts in this step and has acted
    /// before.
    pub pair: Option<Pair>,
    /// Current encoder.
    pub encoder: &'a M,
    /// Gradient of the loss at the current encoder.
    pub gradients: &'a GradientsParams,
}

/// Losses of one batch before and after an act, in nats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    pub(super) before: f64,
    pub(super) after: f64,
}

impl Pair {
    /// Creates a pair if both losses are finite. The loss at an earlier encoder may be NaN or infinite.
    pub fn of(before: f64, after: f64) -> Option<Self> {
        (before.is_finite() && after.is_finite()).then_some(Self { before, after })
    }
}
