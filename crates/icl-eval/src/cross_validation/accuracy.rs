//! The accuracy over the outer folds of a cross-validation.

use serde::{Deserialize, Serialize};

/// Accuracy of a protocol over its outer folds; of [`FewLabels`](crate::FewLabels) over its draws.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// Mean over the outer folds, in [0, 1].
    pub mean: f64,
    /// Standard deviation over the outer folds, with their number (not one less) as the divisor.
    pub std: f64,
    /// Accuracy on each outer fold.
    pub per_fold: Vec<f64>,
    /// Penalty C chosen for each outer fold; empty for a protocol that chooses none.
    pub chosen_c: Vec<f64>,
    /// Number of outer folds, smaller than configured if the smallest class has fewer members.
    pub n_folds: usize,
}

impl Accuracy {
    /// Summarises the accuracies on the outer folds, at least one, with the C chosen for them.
    pub fn of_folds(per_fold: Vec<f64>, chosen_c: Vec<f64>) -> Self {
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

/// Returns the share of predictions that equal their labels.
///
/// # Panics
/// If there are no labels.
#[track_caller]
pub fn share_right(predictions: &[usize], labels: &[usize]) -> f64 {
    assert!(
        !labels.is_empty(),
        "expected at least one sample to test on, found none"
    );
    let pairs = predictions.iter().zip(labels);
    pairs.filter(|(found, label)| found == label).count() as f64 / labels.len() as f64
}

/// Returns the mean as NumPy computes it for few numbers: their sum from left to right, divided by
/// their number. Accuracies of several C tie in both programs only if both round in the same way.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
