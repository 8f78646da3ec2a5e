//! What a training run writes down.

use icl_core::ExactRisk;
use serde::{Deserialize, Serialize};

/// How far log E_X of new anchors is from what it would be without the queue of old noise, in nats:
/// once by the age of the entries, once by the statistics that the anchors are normalised with. See
/// [`TrainingSettings::old_queue`].
///
/// ```text
/// age         mean over anchors of   log E_queue(a)   −  log E_fresh(a)
/// statistics  mean over anchors of   log E_queue(a′)  −  log E_queue(a)
/// ```
///
/// a are the anchors' embeddings in a batch of half old, half new samples, as a query without the queue
/// is, and E_fresh is over other views of the queue's samples in that batch; a′ are those of the same
/// views in a batch of new samples alone, as a query with the queue is. All are made in training mode at
/// the parameters that the run has then, not at their average. The measurement takes two such pairs of
/// batches, without gradients, and entries of all ages. It is noisy by itself: 0.1 nats and more, of
/// either sign, mean little in one of them. Above 0 the old noise counts for too much.
///
/// What it does not show: the negatives of a queue are not moved by a step, those of a batch are.
///
/// [`TrainingSettings::old_queue`]: crate::TrainingSettings::old_queue
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct QueueBias {
    /// Entries that the queue holds.
    pub n_entries: usize,
    /// The bias by age, in nats.
    pub age_nats: f64,
    /// The bias by statistics, in nats; `None` where batches are mixed all the same: without
    /// meta-optimization, and until the queue is full.
    pub statistics_nats: Option<f64>,
}

/// One evaluation of the exact risk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation<R = ExactRisk> {
    /// Epochs trained so far.
    pub epoch: usize,
    /// Views that have gone through the encoder in training so far.
    pub sample_passes: u64,
    /// Seconds of training so far, evaluations not counted.
    pub train_s: f64,
    /// The risk.
    pub risk: R,
    /// How biased the queue of old noise was, where the run had one and it held something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_queue: Option<QueueBias>,
}

/// Where the time went, in seconds.
///
/// Views and collation are made beside the steps by a second thread, so theirs may overlap with
/// those of the steps; `wait` is what the steps waited for them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Seconds {
    /// Making views.
    #[serde(rename = "views_s")]
    pub views: f64,
    /// Collating them.
    #[serde(rename = "collation_s")]
    pub collation: f64,
    /// Forward, backward and update.
    #[serde(rename = "steps_s")]
    pub steps: f64,
    /// Waiting for batches.
    #[serde(rename = "wait_s")]
    pub wait: f64,
    /// Evaluating the exact risk.
    #[serde(rename = "evaluation_s")]
    pub evaluation: f64,
}

impl Seconds {
    /// Seconds of training: steps and waiting for batches.
    pub fn training(&self) -> f64 {
        self.steps + self.wait
    }
}

/// The record of one training run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainingRecord<R = ExactRisk> {
    /// The exact risk over the run, from before the first step to after the last.
    pub evaluations: Vec<Evaluation<R>>,
    /// The mean training loss of each epoch, in nats.
    pub epoch_losses: Vec<f64>,
    /// Seconds of training at the end of each epoch.
    pub epoch_ends_s: Vec<f64>,
    /// The mean learning rate that was applied in each epoch; under meta-optimization lr_q.
    pub learning_rates: Vec<f64>,
    /// The mean lr_s of the inner steps of each epoch; empty without meta-optimization.
    pub support_learning_rates: Vec<f64>,
    /// The share of the old data that each epoch could draw from.
    pub old_fractions: Vec<f64>,
    /// Steps taken.
    pub n_steps: u64,
    /// Views that have gone through the encoder in training.
    pub sample_passes: u64,
    /// Where the time went.
    pub seconds: Seconds,
}

impl<R> TrainingRecord<R> {
    /// The record of a run that has done nothing yet.
    pub fn empty() -> Self {
        Self {
            evaluations: Vec::new(),
            epoch_losses: Vec::new(),
            epoch_ends_s: Vec::new(),
            learning_rates: Vec::new(),
            support_learning_rates: Vec::new(),
            old_fractions: Vec::new(),
            n_steps: 0,
            sample_passes: 0,
            seconds: Seconds::default(),
        }
    }

    /// The number of epochs trained.
    pub fn n_epochs(&self) -> usize {
        self.epoch_losses.len()
    }

    /// The paper's convergence epoch, counted from 1: that of the lowest training loss up to where
    /// `patience` epochs have brought none lower. `None` if nothing was trained. Where the share of old
    /// data has changed, the loss became another function: only epochs since the last change count.
    ///
    /// On a frozen network with random views it differs by a factor of 6 between two identical
    /// runs in one case of ten: it follows noise.
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
