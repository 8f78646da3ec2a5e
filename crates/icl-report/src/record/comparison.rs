//! The record of a comparison: one line of JSON a method and seed.

use icl_core::ExactRisk;
use icl_train::{Evaluation, Seconds};
use serde::{Deserialize, Serialize};

/// The version of [`RunRecord`]'s schema. It grows when a field changes its meaning or goes.
pub const SCHEMA: u32 = 1;

/// What one method did with one seed. Every duration's key ends in `_s`; nothing else depends on
/// the machine's speed, so two runs of one seed differ in those alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The method's name.
    pub method: String,
    /// The root seed.
    pub seed: u64,
    /// The data set's name.
    pub data: String,
    /// The growth ratio α = ΔN / (N + ΔN) that the split has.
    pub alpha: f64,
    /// How old and new were told apart.
    pub split: String,
    /// The number of old samples, N.
    pub n_old: usize,
    /// The number of new samples, ΔN.
    pub n_new: usize,
    /// The backend.
    pub backend: String,
    /// Epochs trained.
    pub epochs: usize,
    /// Views that went through the encoder in training.
    pub sample_passes: u64,
    /// Seconds of training, evaluations not counted.
    pub train_s: f64,
    /// Retraining's plateau of the exact risk over all data + 1 %, in nats; `null` where retraining
    /// was not run.
    pub target: Option<f64>,
    /// Epochs until the exact risk reached the target and stayed; `null` for never.
    pub epochs_to_target: Option<usize>,
    /// Views through the encoder until then.
    pub passes_to_target: Option<u64>,
    /// Seconds of training until then.
    pub time_to_target_s: Option<f64>,
    /// The paper's convergence epoch: that of the lowest training loss.
    pub lowest_loss_epoch: Option<usize>,
    /// Seconds of training until the end of that epoch.
    pub lowest_loss_s: Option<f64>,
    /// The exact risk at the end, in nats.
    pub risk: RiskParts,
    /// L^{I,X} over the old data at the end, in nats: R_old of Theorem 2.
    pub nce1_old: f64,
    /// L^{II} over the old data at the end, in nats.
    pub nce2_old: f64,
    /// All of the exact risk before the first step.
    pub start: ExactRisk,
    /// All of the exact risk at the end.
    pub end: ExactRisk,
    /// Accuracy of the support vector machine on the final embeddings.
    pub accuracy: AccuracyParts,
    /// What stands beside every accuracy.
    pub floors: FloorParts,
    /// The accuracy of a linear probe, with floors by the same; `null` in records of earlier versions.
    #[serde(default)]
    pub linear_probe: Option<ProtocolParts>,
    /// That of the k nearest neighbours likewise.
    #[serde(default)]
    pub knn: Option<ProtocolParts>,
    /// ‖Δθ‖/‖θ‖ from the method's start to its end.
    pub parameter_change: f64,
    /// Where the time went.
    pub seconds: Seconds,
    /// The exact risk over the run.
    pub evaluations: Vec<Evaluation>,
    /// The mean training loss of each epoch, in nats.
    pub epoch_losses: Vec<f64>,
    /// The mean learning rate that was applied in each epoch; under meta-optimization lr_q.
    #[serde(default)]
    pub learning_rates: Vec<f64>,
    /// The mean lr_s of each epoch; empty without meta-optimization.
    #[serde(default)]
    pub support_learning_rates: Vec<f64>,
    /// The share of the old data that each epoch could draw from.
    #[serde(default)]
    pub old_fractions: Vec<f64>,
}

/// The mean of L^{I,X′} over all, old and new data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RiskParts {
    /// Over X′.
    pub all: f64,
    /// Over X.
    pub old: f64,
    /// Over ΔX.
    pub new: f64,
}

/// Accuracies on all, old and new data; `null` where the data hold a single class.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AccuracyParts {
    /// On X′.
    pub all: Option<f64>,
    /// On X.
    pub old: Option<f64>,
    /// On ΔX.
    pub new: Option<f64>,
}

/// What one protocol says of the final embeddings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ProtocolParts {
    /// Its accuracy.
    pub accuracy: AccuracyParts,
    /// What stands beside it.
    pub floors: FloorParts,
}

/// The accuracies that need no training.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FloorParts {
    /// Always the most frequent class.
    pub majority: AccuracyParts,
    /// The same protocol on the numbers of nodes and edges; `null` for images.
    pub size: AccuracyParts,
    /// The same protocol on raw features: summed node features, or the pixels of the centre view.
    pub raw: AccuracyParts,
    /// The same protocol on the embeddings of an untrained encoder.
    pub untrained: AccuracyParts,
}

/// Two coordinates a sample, before and after each method, for the report's map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EmbeddingMap {
    /// The seed that the map is of.
    pub seed: u64,
    /// The class of each sample of X′.
    pub labels: Vec<usize>,
    /// Whether each sample is new.
    pub is_new: Vec<bool>,
    /// The embeddings of θ₀.
    pub before: Vec<[f64; 2]>,
    /// The embeddings at each method's end, in the order of the methods.
    pub after: Vec<(String, Vec<[f64; 2]>)>,
}
