//! Everything that a policy sees before it chooses a learning rate.

use burn::optim::GradientsParams;
use serde::{Deserialize, Serialize};

/// The state of a step, as a policy sees it before it chooses the step's learning rate.
#[derive(Debug)]
pub struct Situation<'a, M> {
    /// Index of the step in the run, counted from 0.
    pub step: u64,
    /// Whether a policy that acts once in several steps acts now.
    pub acts: bool,
    /// Loss of the step's batch at the current encoder, in nats.
    pub loss: f64,
    /// Effect of the policy's last act, where the policy acts and there was one.
    pub pair: Option<Pair>,
    /// The current encoder.
    pub encoder: &'a M,
    /// Gradient of the loss.
    pub gradients: &'a GradientsParams,
}

/// Losses of one batch before and after an act, in nats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    pub(super) before: f64,
    pub(super) after: f64,
}

impl Pair {
    /// Pairs both losses, if they are finite: an encoder of earlier steps may give NaN or infinity.
    pub fn of(before: f64, after: f64) -> Option<Self> {
        (before.is_finite() && after.is_finite()).then_some(Self { before, after })
    }
}
