//! Constants of Adam, and the factors of a step.

use burn::optim::LearningRate;

pub(super) const BETA_1: f32 = 0.9;
pub(super) const BETA_2: f32 = 0.999;
pub(super) const EPSILON: f32 = 1e-8;

/// Factors of a step, corrected for moments that began at zero.
#[derive(Debug, Clone, Copy)]
pub(super) struct Corrected {
    /// Learning rate over 1 − β₁ᵗ.
    pub(super) rate: f32,
    /// 1/(1 − β₂ᵗ).
    pub(super) scale: f32,
}

impl Corrected {
    /// Returns the factors of step number `time`, the first of which is 1.
    pub(super) fn at(lr: LearningRate, time: usize) -> Self {
        // Both corrections are 1 long before i32::MAX steps.
        let time = i32::try_from(time).unwrap_or(i32::MAX);
        let correction = |beta: f32| 1.0 - f64::from(beta).powi(time);
        Self {
            rate: (lr / correction(BETA_1)) as f32,
            scale: correction(BETA_2).recip() as f32,
        }
    }
}
