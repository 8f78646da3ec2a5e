//! Record of an update: one encoder before and after.

use icl_core::{ByOrigin, ExactRisk, PanelRisk};
use icl_train::{Cost, Evaluation, ExpectedGain, StoppedBy};
use serde::{Deserialize, Serialize};

/// Version of [`UpdateRecord`]'s schema. It grows when records of before can no longer be read.
pub const UPDATE_SCHEMA: u32 = 2;

/// Record of one update of one encoder.
///
/// Losses and risks are in nats. The key of every duration ends in `_s`; nothing else depends on the
/// speed of the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UpdateRecord {
    /// Version of the schema, [`UPDATE_SCHEMA`].
    pub schema: u32,
    /// Name of the method.
    pub method: String,
    /// Root seed.
    pub seed: u64,
    /// File of the encoder that was updated, θ₀, as it was named.
    pub from: String,
    /// Name of the old data set, X.
    pub old_data: String,
    /// Name of the new data set, ΔX.
    pub new_data: String,
    /// Number of old samples, N.
    pub n_old: usize,
    /// Number of new samples, ΔN.
    pub n_new: usize,
    /// Number of values outside the range of the encoder's own data that were clipped; 0 in older records.
    #[serde(default)]
    pub n_clipped: usize,
    /// Growth ratio α = ΔN / (N + ΔN).
    pub alpha: f64,
    /// Temperature τ of the losses.
    pub temperature: f64,
    /// Number of negatives K in the formulas of the losses.
    pub negatives: f64,
    /// Backend.
    pub backend: String,
    /// Number of epochs trained.
    pub epochs: usize,
    /// Number of views that went through the encoder in training.
    pub sample_passes: u64,
    /// Cost that is charged to the method, in full passes: `cost` without `measuring`.
    pub charged_passes: f64,
    /// Cost by purpose, in full passes.
    pub cost: Cost,
    /// Rule or limit that ended the training; `null` if nothing was trained.
    pub stopped_by: Option<StoppedBy>,
    /// Index of the evaluation with the lowest risk, the mean of that over old and over new samples, whose encoder was
    /// written; `null` for the last encoder, where the stopping rule does not follow the risk.
    pub best_evaluation: Option<usize>,
    /// Gain of the next doubling of the cost that the stopping rule expected at the last evaluation, as a share of
    /// the risk; `null` for other rules.
    pub expected_gain: Option<ExpectedGain>,
    /// Seconds of training, evaluations not counted.
    pub train_s: f64,
    /// Exact risk of θ₀ over training samples, with its normalisation statistics re-estimated over them.
    pub before: ExactRisk,
    /// Exact risk of the updated encoder over the same samples, with its statistics re-estimated over them.
    pub after: ExactRisk,
    /// Risk of θ₀, with its statistics re-estimated over the training samples, over a panel of samples that the
    /// update has not seen, in nats, with its standard error; `null` without held-out samples.
    pub held_out_before: Option<PanelRisk>,
    /// Risk of the updated encoder over the same panel.
    pub held_out_risk: Option<PanelRisk>,
    /// Number of samples of the panel.
    pub n_held_out: Option<ByOrigin<usize>>,
    /// Share of the old samples' neighbours that is kept; `null` where there are too few samples.
    pub neighbours_kept: Option<KeptNeighbours>,
    /// Share of old samples whose embedding by the updated encoder is nearest, among θ₀'s embeddings of old samples, to that of
    /// the same sample; over at most 2000 of them. `null` with fewer than two, or in older records.
    #[serde(default)]
    pub cross_version_recall: Option<f64>,
    /// Parameter change ‖Δθ‖/‖θ‖ from θ₀ to the updated encoder, over trained parameters. 0 means that
    /// nothing was trained, or no better encoder was found.
    pub parameter_change: f64,
    /// Exact risk over the update, from before the first step to after the last.
    pub evaluations: Vec<Evaluation>,
    /// Mean training loss of each epoch, in nats.
    pub epoch_losses: Vec<f64>,
    /// Mean number of negatives K of the steps of each epoch.
    #[serde(default)]
    pub step_negatives: Vec<f64>,
    /// Mean learning rate of each epoch; under meta-optimization lr_q.
    pub learning_rates: Vec<f64>,
    /// Mean learning rate lr_s of each epoch; empty without meta-optimization.
    pub support_learning_rates: Vec<f64>,
    /// Relative move ‖θ′ − θ‖/‖θ‖ of the trained parameters in an inner loop, mean over the steps of each epoch;
    /// empty without meta-optimization.
    pub support_moves: Vec<f64>,
    /// Share of the old data that each epoch could draw from.
    pub old_fractions: Vec<f64>,
}

/// Share of the k nearest neighbours of an old sample, among the old samples and by cosine similarity
/// of plain embeddings, that is the same before and after; the mean over old samples, of at most
/// [`MOST`](Self::MOST) drawn at random: the cost grows with their square. See `NeighboursKept` in `icl-eval`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct KeptNeighbours {
    /// Number of neighbours of each sample.
    pub k: usize,
    /// Share, from 0 to 1; chance gives k / (N − 1).
    pub share: f64,
}

impl KeptNeighbours {
    /// Largest number of old samples N that are compared.
    pub const MOST: usize = 10_000;
}
