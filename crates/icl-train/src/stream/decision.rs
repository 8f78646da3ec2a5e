//! The decision on an update.

use serde::{Deserialize, Serialize};

/// Decision on an update, with the numbers that led to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Experience that has just arrived.
    pub experience: String,
    /// Whether to update.
    pub update: bool,
    /// Reason, in words.
    pub reason: String,
    /// Number of experiences that wait, this one included.
    pub n_experiences: usize,
    /// Number of samples that wait.
    pub n_samples: usize,
    /// Bias of inference in nats, if the rule needs it.
    pub statistic: Option<f64>,
    /// Mean of its absolute value without drift, in nats.
    pub null_mean: Option<f64>,
    /// Its 95 % quantile without drift, in nats.
    pub null_q95: Option<f64>,
    /// Regret so far, in nats summed over samples.
    pub regret: f64,
}
