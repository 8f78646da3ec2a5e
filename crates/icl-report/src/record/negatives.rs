//! Record of a recommended number of negatives.

use serde::{Deserialize, Serialize};

use crate::record::shared::MadeBy;

/// Version of [`NegativesRecord`]'s schema. It grows when records of earlier versions can no longer be read.
pub const NEGATIVES_SCHEMA: u32 = 1;

/// Record of a recommended number of negatives: what it follows from, and the best numbers under two weights.
///
/// [`NegativesAdvice::of_record`](crate::NegativesAdvice::of_record) computes all the rest again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NegativesRecord {
    /// Version of the schema, [`NEGATIVES_SCHEMA`].
    pub schema: u32,
    /// Command.
    #[serde(flatten)]
    pub made_by: MadeBy,
    /// AUC of positives against negatives in training, from which the separation of the labels follows.
    pub train_auc: f64,
    /// AUC on validation data, for advice on one stage of a training; `null` for all of it.
    pub validation_auc: Option<f64>,
    /// AUCs that were measured in the course of a training; `null` without them.
    pub curve: Option<Vec<f64>>,
    /// Separation μ of the labels.
    pub mu_q: f64,
    /// Largest number of negatives that was considered.
    pub k_max: usize,
    /// Best number under the weight λ that was given.
    #[serde(flatten)]
    pub best: BestNegatives,
    /// Best number without easy samples, λ = 1.
    pub at_lambda_1: BestNegatives,
}

/// Best number of negatives under one weight λ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BestNegatives {
    /// Weight λ of good and bad samples against easy ones.
    pub lambda: f64,
    /// Best number.
    pub k_opt: usize,
    /// Both ends of the range of numbers that are as good.
    pub k_range: [usize; 2],
    /// Training effectiveness at the best number.
    pub effectiveness: f64,
    /// Whether the best number is the largest one that was considered.
    pub is_at_bound: bool,
}
