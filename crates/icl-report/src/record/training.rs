//! Record of a first encoder's training.

use icl_core::HeldOutRisk;
use icl_train::Seconds;
use serde::{Deserialize, Serialize};

use crate::record::shared::{HoldOutRule, RunSettings, TrainingCourse, TrainingSummary};
use crate::record::task::TaskAccuracy;

/// Version of [`TrainRecord`]'s schema. It grows when records of earlier versions can no longer be read.
pub const TRAIN_SCHEMA: u32 = 2;

/// Record of the training of one encoder from scratch.
///
/// Losses and risks are in nats; the exact risk is L^{I,X} over the data X, under p(X). The key of every
/// duration ends in `_s`; nothing else depends on the speed of the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainRecord {
    /// Version of the schema, [`TRAIN_SCHEMA`].
    pub schema: u32,
    /// Settings.
    #[serde(flatten)]
    pub settings: RunSettings,
    /// Name of the data set, X.
    pub data: String,
    /// Number of samples, N.
    pub n: usize,
    /// Number of values outside the range of the encoder's own data that were clipped; 0 in older records.
    #[serde(default)]
    pub n_clipped: usize,
    /// Exact risk of the untrained encoder, which is the floor.
    pub untrained: f64,
    /// Exact risk of the trained encoder.
    pub trained: f64,
    /// Rule by which samples are held out; `null` in older records.
    #[serde(default)]
    pub hold_out: Option<HoldOutRule>,
    /// Risk of the trained encoder over held-out samples, which no training has seen, in nats, with its
    /// standard error: `all` and `old` are the same, `new` is `null`. `null` without held-out samples.
    pub held_out_risk: Option<HeldOutRisk<Option<f64>>>,
    /// Number of held-out samples.
    pub n_held_out: Option<usize>,
    /// Accuracies on the labels of the held-out samples, where `before` is the untrained encoder; `null` without labels
    /// or held-out samples, and in older records.
    #[serde(default)]
    pub task: Option<TaskAccuracy>,
    /// Seconds of each part of the training.
    pub seconds: Seconds,
    /// Length and cost of the training.
    #[serde(flatten)]
    pub training: TrainingSummary,
    /// Course of the training.
    #[serde(flatten)]
    pub course: TrainingCourse<f64>,
}
