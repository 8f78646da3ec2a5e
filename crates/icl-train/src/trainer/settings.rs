//! What a training run is told.

use serde::{Deserialize, Serialize};

use crate::evaluation::StopRule;
use crate::method::MetaOrder;
use crate::optimizer::UpdateRule;
use crate::step::distillation::Distance;

/// The settings of a training run. All methods of a comparison share them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainingSettings {
    /// The most epochs.
    pub epochs: usize,
    /// Samples a batch; batches of an epoch differ by at most one.
    pub batch_size: usize,
    /// How gradients become steps.
    pub optimizer: UpdateRule,
    /// The learning rate.
    pub learning_rate: f64,
    /// τ.
    pub temperature: f64,
    /// K, the number of negatives in the formulas.
    pub negatives: f64,
    /// When to stop before the last epoch.
    pub stop: StopRule,
    /// How many evaluations, or epochs under the paper's rule, without progress end a run.
    pub patience: usize,
    /// Epochs between evaluations of the exact risk. Without it they lie about 32 steps apart at
    /// first and a tenth of the epochs so far later: dense where the risk falls quickly, rare where
    /// it does not.
    pub evaluate_every: Option<usize>,
    /// The decay of the moving average of the parameters, from 0 (no average) to below 1. The
    /// average is what is evaluated and handed out.
    pub average_decay: f64,
    /// Under meta-optimization: whether the gradient goes through the inner steps.
    pub meta_order: MetaOrder,
    /// Under meta-optimization: lr_s, the learning rate of the inner steps, which are plain gradient
    /// descent.
    pub support_learning_rate: f64,
    /// How many old samples the buffer of replay holds. Without it a fifth of the old data.
    pub replay_size: Option<usize>,
    /// How many recent embeddings of old samples serve as old noise beside that of the batch (He et
    /// al., 2020, there called a queue). Without it only the batch does.
    ///
    /// Under meta-optimization a query holds new samples alone as soon as the queue is full, which
    /// saves half of its passes. Its normalisation statistics are then those of new data. Both this
    /// and the age of the entries bias the loss, see [`QueueBias`](crate::QueueBias).
    ///
    /// Only losses that tell old noise from new have a use for it
    /// ([`Loss::separates_noise`](crate::Loss::separates_noise)). At least 2, as many as a batch holds:
    /// one may be the anchor itself.
    pub old_queue: Option<usize>,
    /// The weight of the distance to the first encoder's embeddings under distillation.
    pub distillation_weight: f64,
    /// That distance.
    pub distillation_distance: Distance,
}

/// Steps between the first evaluations.
const STEPS_BETWEEN: usize = 32;

impl Default for TrainingSettings {
    fn default() -> Self {
        Self {
            epochs: 300,
            batch_size: 32,
            optimizer: UpdateRule::Adam,
            learning_rate: 3e-3,
            temperature: 0.1,
            negatives: 31.0,
            stop: StopRule::ExactRisk,
            patience: 20,
            evaluate_every: None,
            average_decay: 0.99,
            meta_order: MetaOrder::First,
            support_learning_rate: 3e-3,
            replay_size: None,
            old_queue: None,
            distillation_weight: 1.0,
            distillation_distance: Distance::Cosine,
        }
    }
}

/// A setting that cannot be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{field}: found {found}, expected {expected}")]
pub struct SettingsError {
    /// The field.
    pub field: &'static str,
    /// Its value.
    pub found: f64,
    /// What it should be.
    pub expected: &'static str,
}

impl TrainingSettings {
    /// Checks every field.
    ///
    /// # Errors
    /// [`SettingsError`] at the first that is out of its range.
    pub fn check(&self) -> Result<(), SettingsError> {
        let positive = "a number above 0";
        let numbers = [
            ("learning_rate", self.learning_rate),
            ("temperature", self.temperature),
            ("negatives", self.negatives),
            ("support_learning_rate", self.support_learning_rate),
            ("distillation_weight", self.distillation_weight),
        ];
        for (field, found) in numbers {
            if !(found.is_finite() && found > 0.0) {
                return Err(SettingsError {
                    field,
                    found,
                    expected: positive,
                });
            }
        }
        if !(0.0..1.0).contains(&self.average_decay) {
            return Err(SettingsError {
                field: "average_decay",
                found: self.average_decay,
                expected: "a number from 0 to below 1",
            });
        }
        let counts = [
            ("epochs", self.epochs, 1, "at least 1"),
            ("batch_size", self.batch_size, 4, "at least 4"),
            ("patience", self.patience, 1, "at least 1"),
            (
                "evaluate_every",
                self.evaluate_every.unwrap_or(1),
                1,
                "at least 1",
            ),
            (
                "replay_size",
                self.replay_size.unwrap_or(1),
                1,
                "at least 1",
            ),
            ("old_queue", self.old_queue.unwrap_or(2), 2, "at least 2"),
        ];
        for (field, found, least, expected) in counts {
            if found < least {
                return Err(SettingsError {
                    field,
                    found: found as f64,
                    expected,
                });
            }
        }
        Ok(())
    }

    /// Every field by name with its value, for comparison with those of another run.
    pub(crate) fn facts(&self) -> Vec<(String, String)> {
        let value = serde_json::to_value(self).unwrap_or_default();
        let fields = value.as_object().into_iter().flatten();
        fields
            .map(|(name, value)| (name.clone(), value.to_string()))
            .collect()
    }

    /// How many of `n_old` samples replay keeps.
    pub(crate) fn replay_size(&self, n_old: usize) -> usize {
        self.replay_size
            .unwrap_or_else(|| n_old.div_ceil(5))
            .min(n_old)
    }

    /// The epoch of the evaluation after that of `epoch`, with `n_steps` steps an epoch.
    pub(crate) fn next_evaluation(&self, epoch: usize, n_steps: usize) -> usize {
        let spacing = || STEPS_BETWEEN.div_ceil(n_steps).max(epoch / 10);
        epoch.saturating_add(self.evaluate_every.unwrap_or_else(spacing))
    }
}
