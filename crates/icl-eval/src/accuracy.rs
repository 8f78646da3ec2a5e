//! The accuracy that a protocol measured.

use serde::{Deserialize, Serialize};

/// The accuracy that a protocol measured over its outer folds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// Mean over the outer folds, in [0, 1].
    pub mean: f64,
    /// Standard deviation over the outer folds (divided by their number, not by one less).
    pub std: f64,
    /// The accuracy on each outer fold.
    pub per_fold: Vec<f64>,
    /// The C chosen for each outer fold; empty for a protocol that has none to choose.
    pub chosen_c: Vec<f64>,
    /// The number of outer folds: fewer than asked for where the smallest class has fewer members.
    pub n_folds: usize,
}

impl Accuracy {
    /// Of the accuracies on the outer folds, at least one, and what was chosen for them.
    pub(crate) fn of_folds(per_fold: Vec<f64>, chosen_c: Vec<f64>) -> Self {
        let center = mean(&per_fold);
        let squares: Vec<f64> = per_fold.iter().map(|a| (a - center).powi(2)).collect();
        Self {
            mean: center,
            std: mean(&squares).sqrt(),
            n_folds: per_fold.len(),
            per_fold,
            chosen_c,
        }
    }
}

/// The share of predictions that are right.
///
/// # Panics
/// If there are none.
#[track_caller]
pub(crate) fn share_right(predictions: &[usize], labels: &[usize]) -> f64 {
    assert!(
        !labels.is_empty(),
        "expected at least one sample to test on, found none"
    );
    let pairs = predictions.iter().zip(labels);
    pairs.filter(|(found, label)| found == label).count() as f64 / labels.len() as f64
}

/// The mean as NumPy takes it of few numbers: their sum from left to right, divided. Equal
/// accuracies of several C are ties only if both programs round alike.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
