//! The record of an update: what one encoder was before it, and what it is after.

use icl_core::ExactRisk;
use icl_train::Evaluation;
use serde::{Deserialize, Serialize};

/// The version of [`UpdateRecord`]'s schema. It grows when a field changes its meaning or goes.
pub const UPDATE_SCHEMA: u32 = 1;

/// What one update did to one encoder. Losses and risks are in nats. Every duration's key ends in
/// `_s`; nothing else depends on the machine's speed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UpdateRecord {
    /// [`UPDATE_SCHEMA`].
    pub schema: u32,
    /// The method's name.
    pub method: String,
    /// The root seed.
    pub seed: u64,
    /// The file of the encoder that was updated, θ₀, as it was named.
    pub from: String,
    /// The name of the old data set, X.
    pub old_data: String,
    /// The name of the new data set, ΔX.
    pub new_data: String,
    /// The number of old samples, N.
    pub n_old: usize,
    /// The number of new samples, ΔN.
    pub n_new: usize,
    /// The growth ratio α = ΔN / (N + ΔN).
    pub alpha: f64,
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
    /// The exact risk of θ₀, its normalisation statistics re-estimated over X′.
    pub before: ExactRisk,
    /// The exact risk of the updated encoder, its statistics likewise.
    pub after: ExactRisk,
    /// How much of the old samples' neighbourhoods is left; `null` where there are too few samples.
    pub neighbours_kept: Option<KeptNeighbours>,
    /// ‖Δθ‖/‖θ‖ from θ₀ to the updated encoder, over trained parameters. 0 means that nothing was
    /// trained.
    pub parameter_change: f64,
    /// The exact risk over the update, from before the first step to after the last.
    pub evaluations: Vec<Evaluation>,
    /// The mean training loss of each epoch, in nats.
    pub epoch_losses: Vec<f64>,
    /// The mean learning rate that was applied in each epoch; under meta-optimization lr_q.
    pub learning_rates: Vec<f64>,
    /// The mean lr_s of each epoch; empty without meta-optimization.
    pub support_learning_rates: Vec<f64>,
    /// The share of the old data that each epoch could draw from.
    pub old_fractions: Vec<f64>,
}

/// The share of the k nearest neighbours of an old sample, among the old samples and by cosine
/// similarity of plain embeddings, that is the same before and after; the mean over old samples. See
/// [`NeighboursKept`](icl_eval::NeighboursKept).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct KeptNeighbours {
    /// The number of neighbours of each sample.
    pub k: usize,
    /// The share, from 0 to 1; chance gives k / (N − 1).
    pub share: f64,
}
