//! The accuracies of linear classifiers with several learning rates.

use crate::Accuracy;

/// Accuracies of [`DescentProbe`](crate::DescentProbe) by cross-validation.
#[derive(Debug, Clone, PartialEq)]
pub struct DescentAccuracies {
    /// Accuracy with the learning rate that inner folds choose in each outer fold.
    pub chosen: Accuracy,
    /// Learning rate chosen in each outer fold.
    pub chosen_rates: Vec<f64>,
    /// Accuracy with each learning rate in all outer folds, ascending by rate.
    pub by_rate: Vec<RateAccuracy>,
}

/// Accuracy of [`DescentProbe`](crate::DescentProbe) with one learning rate in all outer folds.
#[derive(Debug, Clone, PartialEq)]
pub struct RateAccuracy {
    /// Learning rate.
    pub rate: f64,
    /// Accuracy over the outer folds.
    pub accuracy: Accuracy,
}

impl DescentAccuracies {
    /// Returns the learning rate with the best mean accuracy on the test folds, the smallest of several.
    ///
    /// The choice uses the labels of the test folds, so the accuracy is too high by the choice. It is the
    /// one that papers without a validation set report.
    pub fn best_on_test(&self) -> &RateAccuracy {
        let mut best = &self.by_rate[0];
        for candidate in &self.by_rate[1..] {
            if candidate.accuracy.mean > best.accuracy.mean {
                best = candidate;
            }
        }
        best
    }
}
