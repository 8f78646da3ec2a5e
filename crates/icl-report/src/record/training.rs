//! Record of a first encoder's training.

use icl_core::PanelRisk;
use icl_train::{Cost, Evaluation, ExpectedGain, Seconds, StoppedBy};
use serde::{Deserialize, Serialize};

/// Version of [`TrainRecord`]'s schema. It grows when records of before can no longer be read.
pub const TRAIN_SCHEMA: u32 = 2;

/// Record of the training of one encoder from scratch.
///
/// Losses and risks are in nats; the exact risk is L^{I,X} over the data X, under p(X). The key of every
/// duration ends in `_s`; nothing else depends on the speed of the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainRecord {
    /// Version of the schema, [`TRAIN_SCHEMA`].
    pub schema: u32,
    /// Root seed.
    pub seed: u64,
    /// Name of the data set, X.
    pub data: String,
    /// Number of samples, N.
    pub n: usize,
    /// Number of values outside the range of the encoder's own data that were clipped; 0 in older records.
    #[serde(default)]
    pub n_clipped: usize,
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
    /// Exact risk of the untrained encoder, which is the floor.
    pub untrained: f64,
    /// Exact risk of the trained encoder.
    pub trained: f64,
    /// Risk of the trained encoder over a panel of samples that no training has seen, in nats, with its
    /// standard error: `all` and `old` are the same, `new` is `null`. `null` without held-out samples.
    pub held_out_risk: Option<PanelRisk<Option<f64>>>,
    /// Number of samples of the panel.
    pub n_held_out: Option<usize>,
    /// Parameter change ‖Δθ‖/‖θ‖ from the untrained encoder to the trained one, over trained parameters.
    /// 0 means that nothing was trained, or no better encoder was found.
    pub parameter_change: f64,
    /// Seconds of each part of the training.
    pub seconds: Seconds,
    /// Exact risk over the training, from before the first step to after the last.
    pub evaluations: Vec<Evaluation<f64>>,
    /// Mean training loss of each epoch, in nats.
    pub epoch_losses: Vec<f64>,
    /// Mean number of negatives K of the steps of each epoch.
    #[serde(default)]
    pub step_negatives: Vec<f64>,
}
