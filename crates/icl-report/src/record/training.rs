//! The record of a first encoder's training.

use icl_train::{Evaluation, Seconds};
use serde::{Deserialize, Serialize};

/// The version of [`TrainRecord`]'s schema. It grows when a field changes its meaning or goes.
pub const TRAIN_SCHEMA: u32 = 1;

/// How one encoder was trained from scratch. Losses and risks are in nats; the exact risk is L^{I,X}
/// over the data X, under p(X). Every duration's key ends in `_s`; nothing else depends on the
/// machine's speed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainRecord {
    /// [`TRAIN_SCHEMA`].
    pub schema: u32,
    /// The root seed.
    pub seed: u64,
    /// The name of the data set, X.
    pub data: String,
    /// The number of samples, N.
    pub n: usize,
    /// The temperature τ of the losses.
    pub temperature: f64,
    /// K, the number of negatives in the losses' formulas.
    pub negatives: f64,
    /// The backend.
    pub backend: String,
    /// Epochs trained.
    pub epochs: usize,
    /// Views that went through the encoder in training.
    pub sample_passes: u64,
    /// Seconds of training, evaluations not counted.
    pub train_s: f64,
    /// The exact risk of the untrained encoder: the floor.
    pub untrained: f64,
    /// The exact risk of the trained encoder.
    pub trained: f64,
    /// ‖Δθ‖/‖θ‖ from the untrained encoder to the trained one, over trained parameters. 0 means that
    /// nothing was trained.
    pub parameter_change: f64,
    /// Where the time went.
    pub seconds: Seconds,
    /// The exact risk over the training, from before the first step to after the last.
    pub evaluations: Vec<Evaluation<f64>>,
    /// The mean training loss of each epoch, in nats.
    pub epoch_losses: Vec<f64>,
}
