//! Accuracies of an encoder on the labels of held-out samples.

use icl_train::PairedDifference;
use serde::{Deserialize, Serialize};

/// Accuracies on the labels of held-out samples, predicted from a few labelled samples of each class that were trained
/// on. All features have the same labelled and the same held-out samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TaskAccuracy {
    /// Number of labelled samples.
    pub n_labelled: usize,
    /// Number of held-out samples.
    pub n_held_out: usize,
    /// By the labelled sample with the largest cosine.
    pub nearest: TaskFeatures,
    /// By multinomial logistic regression on the labelled samples.
    pub linear: TaskFeatures,
}

/// Accuracies of one classifier on different features of the same samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TaskFeatures {
    /// Accuracy of the encoder before the training; the untrained one where there was none.
    pub before: f64,
    /// Accuracy of the encoder after it.
    pub after: f64,
    /// Accuracy of an untrained encoder.
    pub untrained: f64,
    /// Accuracy of the features without an encoder; `null` where data have none.
    pub raw: Option<f64>,
    /// Share of errors after minus before, sample by sample: below 0 the encoder after is better.
    pub difference: PairedDifference,
}
