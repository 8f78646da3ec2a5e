//! Record of an update: one encoder before and after.

use icl_core::{ExactRisk, HeldOutRisk};
use icl_train::Verdict;
use serde::{Deserialize, Serialize};

use crate::record::shared::{
    HoldOutRule, RunSettings, TrainingCourse, TrainingSummary, UpdateFacts,
};
use crate::record::task::TaskAccuracy;

/// Version of [`UpdateRecord`]'s schema. It grows when records of earlier versions can no longer be read.
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
    /// Settings.
    #[serde(flatten)]
    pub settings: RunSettings,
    /// File of the encoder that was updated, θ₀, as it was named.
    pub from: String,
    /// Name of the old data set, X.
    pub old_data: String,
    /// Name of the new data set, ΔX.
    pub new_data: String,
    /// Number of kept old samples, which represent all `n_old`; `null` where all old data were present.
    #[serde(default)]
    pub n_old_kept: Option<usize>,
    /// Number of values outside the range of the encoder's own data that were clipped; 0 in older records.
    #[serde(default)]
    pub n_clipped: usize,
    /// Exact risk of θ₀ over training samples, as it was given.
    pub before: ExactRisk,
    /// Exact risk of the updated encoder over the same samples, with its statistics re-estimated over them unless the
    /// method freezes them.
    pub after: ExactRisk,
    /// Rule by which samples are held out; `null` in older records.
    #[serde(default)]
    pub hold_out: Option<HoldOutRule>,
    /// Risk of θ₀, as it was given, over held-out samples, which the
    /// update has not seen, in nats, with its standard error; `null` without held-out samples.
    pub held_out_before: Option<HeldOutRisk>,
    /// Whether the updated encoder is better, by the paired differences of the losses of the held-out samples; `null`
    /// without such samples, and in older records.
    #[serde(default)]
    pub verdict: Option<Verdict>,
    /// Whether the updated encoder was rejected as worse: then `encoder.safetensors` is θ₀, and the updated encoder is
    /// `rejected.safetensors`.
    #[serde(default)]
    pub is_rejected: bool,
    /// Predicted cost of retraining, in full passes: the passes per sample of the training from scratch that θ₀ goes
    /// back to, as its file states them, times the old and new samples of this update; `null` where the file does not
    /// state them, or in older records.
    #[serde(default)]
    pub retraining_passes: Option<f64>,
    /// Accuracies on the labels of the held-out samples; `null` without labels or held-out samples, and in older
    /// records.
    #[serde(default)]
    pub task: Option<TaskAccuracy>,
    /// Share of the old samples' neighbours that is kept; `null` where there are too few samples.
    pub neighbours_kept: Option<KeptNeighbours>,
    /// Data, rates and encoder of the update.
    #[serde(flatten)]
    pub update: UpdateFacts,
    /// Length and cost of its training.
    #[serde(flatten)]
    pub training: TrainingSummary,
    /// Course of its training.
    #[serde(flatten)]
    pub course: TrainingCourse,
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

    /// Returns the number of old samples that are compared, of `n_old`.
    pub(crate) fn n_compared(n_old: usize) -> usize {
        n_old.min(Self::MOST)
    }

    /// Returns the share that embeddings with nothing in common have, among `n_old` old samples.
    pub(crate) fn by_chance(self, n_old: usize) -> f64 {
        self.k as f64 / Self::n_compared(n_old).saturating_sub(1).max(1) as f64
    }
}
