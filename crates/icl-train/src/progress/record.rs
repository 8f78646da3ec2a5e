//! The record of a training run.

use icl_core::ExactRisk;
use serde::{Deserialize, Serialize};

use crate::evaluation::gain::ExpectedGain;
use crate::evaluation::stopping::StoppedBy;
use crate::progress::cost::Cost;

/// Evaluation of the exact risk during a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation<R = ExactRisk> {
    /// Number of epochs trained so far.
    pub epoch: usize,
    /// Number of views that passed through the encoder in training so far.
    pub sample_passes: u64,
    /// Cost that is charged to the method so far, in full passes, without this evaluation.
    pub charged_passes: f64,
    /// Training time so far in seconds, without evaluations.
    pub train_s: f64,
    /// Exact risk in nats.
    pub risk: R,
}

/// Time of a run by activity, in seconds.
///
/// A second thread makes views and batches while the first one trains, so `views` and `collation` may
/// overlap with `steps`. `wait` is the time that steps waited for their batches.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Seconds {
    /// Time for making views.
    #[serde(rename = "views_s")]
    pub views: f64,
    /// Time for collating views into batches.
    #[serde(rename = "collation_s")]
    pub collation: f64,
    /// Time for forward passes, backward passes and updates.
    #[serde(rename = "steps_s")]
    pub steps: f64,
    /// Time that steps waited for batches.
    #[serde(rename = "wait_s")]
    pub wait: f64,
    /// Time for evaluations of the exact risk.
    #[serde(rename = "evaluation_s")]
    pub evaluation: f64,
}

impl Seconds {
    /// Returns the training time in seconds: steps and waiting for batches.
    pub fn training(&self) -> f64 {
        self.steps + self.wait
    }
}

/// Record of a training run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainingRecord<R = ExactRisk> {
    /// Evaluations of the exact risk, from before the first step to after the last.
    pub evaluations: Vec<Evaluation<R>>,
    /// Mean training loss of each epoch, in nats. A run that ends within an epoch has a last one of fewer steps.
    pub epoch_losses: Vec<f64>,
    /// Training time in seconds at the end of each epoch.
    pub epoch_ends_s: Vec<f64>,
    /// Mean learning rate that was applied in each epoch; lr_q under meta-optimization.
    pub learning_rates: Vec<f64>,
    /// Mean number of negatives K of the steps of each epoch. A loss under another K has another scale: at chance it is
    /// ln(1 + K).
    #[serde(default)]
    pub step_negatives: Vec<f64>,
    /// Mean learning rate lr_s of the inner steps of each epoch; empty without meta-optimization.
    pub support_learning_rates: Vec<f64>,
    /// Relative move ‖θ′ − θ‖/‖θ‖ of the trained parameters in an inner loop, mean over the steps of each epoch;
    /// empty without meta-optimization. See `icl_meta::relative_move`.
    #[serde(default)]
    pub support_moves: Vec<f64>,
    /// Share of the old data in each epoch.
    pub old_fractions: Vec<f64>,
    /// Number of steps done.
    pub n_steps: u64,
    /// Number of views that passed through the encoder in training.
    pub sample_passes: u64,
    /// Cost by purpose, in full passes.
    pub cost: Cost,
    /// Index of the evaluation with the lowest risk, whose encoder is the result; `None` if the stopping rule does
    /// not follow the risk, and then the last encoder is the result.
    #[serde(default)]
    pub best_evaluation: Option<usize>,
    /// Gain that the stopping rule expected at the last evaluation, if it expects any.
    #[serde(default)]
    pub expected_gain: Option<ExpectedGain>,
    /// Rule or limit that ended the run; `None` if nothing was trained, or if the run continues.
    pub stopped_by: Option<StoppedBy>,
    /// Warnings about the result, a sentence each: of parameters that moved so far that the learning rate was too high, and of
    /// normalisation statistics that [`Encoder::recalibrated`](icl_core::Encoder::recalibrated) does not re-estimate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Time by activity.
    pub seconds: Seconds,
}

impl<R> TrainingRecord<R> {
    /// Creates the record of a run before its first step and evaluation.
    pub fn empty() -> Self {
        Self {
            evaluations: Vec::new(),
            epoch_losses: Vec::new(),
            epoch_ends_s: Vec::new(),
            learning_rates: Vec::new(),
            step_negatives: Vec::new(),
            support_learning_rates: Vec::new(),
            support_moves: Vec::new(),
            old_fractions: Vec::new(),
            n_steps: 0,
            sample_passes: 0,
            cost: Cost::default(),
            best_evaluation: None,
            expected_gain: None,
            stopped_by: None,
            warnings: Vec::new(),
            seconds: Seconds::default(),
        }
    }

    /// Returns the number of epochs trained.
    pub fn n_epochs(&self) -> usize {
        self.epoch_losses.len()
    }

    /// Finds the convergence epoch of the paper (section 4.1.4), counted from 1: the epoch of the lowest
    /// training loss before `patience` epochs without a lower one. Returns `None` if nothing was trained.
    ///
    /// A change in the share of old data changes the loss function: only epochs since the last change
    /// count.
    ///
    /// The convergence epoch follows noise: with a frozen network and random views it differs by a factor
    /// of 6 between two identical runs in one case of ten.
    pub fn lowest_loss_epoch(&self, patience: usize) -> Option<usize> {
        let mut lowest: Option<(usize, f64)> = None;
        let changes = self.old_fractions.windows(2);
        let last_change = changes.rev().position(|pair| pair[0] != pair[1]);
        let first = last_change.map_or(0, |from_end| self.old_fractions.len() - 1 - from_end);
        for (epoch, &loss) in self.epoch_losses.iter().enumerate().skip(first) {
            match lowest {
                Some((at, _)) if epoch - at > patience => break,
                Some((_, value)) if loss >= value => {}
                _ => lowest = Some((epoch, loss)),
            }
        }
        lowest.map(|(epoch, _)| epoch + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_counts_to_the_lowest_loss_within_patience() {
        let record = |losses: &[f64]| TrainingRecord::<ExactRisk> {
            epoch_losses: losses.to_vec(),
            ..TrainingRecord::empty()
        };
        assert_eq!(record(&[]).lowest_loss_epoch(2), None);
        assert_eq!(record(&[3.0, 2.0, 2.5, 1.0]).lowest_loss_epoch(2), Some(4));
        assert_eq!(
            record(&[3.0, 2.0, 2.5, 2.5, 2.5, 1.0]).lowest_loss_epoch(2),
            Some(2)
        );
        let widened = TrainingRecord {
            old_fractions: vec![0.2, 0.2, 0.4, 0.8, 0.8],
            ..record(&[1.0, 0.5, 3.0, 2.5, 2.0])
        };
        assert_eq!(widened.lowest_loss_epoch(2), Some(5));
    }
}
