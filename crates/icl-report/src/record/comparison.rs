//! Record of a comparison, one line of JSON for each method and seed.

use std::collections::BTreeMap;

use icl_core::{ByOrigin, ExactRisk};
use icl_train::Seconds;
use serde::{Deserialize, Serialize};

use crate::error::ReportError;
use crate::record::shared::{MadeBy, TrainingCourse, TrainingSummary, UpdateFacts};

/// Version of [`RunRecord`]'s schema. It grows when records of earlier versions can no longer be read.
pub const SCHEMA: u32 = 2;

/// Record of one method with one seed.
///
/// The key of every duration ends in `_s`. Nothing else depends on the speed of the machine, so two
/// runs of one seed differ in durations alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of the schema, [`SCHEMA`].
    pub schema: u32,
    /// Name of the method; of one that ran within several budgets with the budget, such as `icl@10%`.
    pub method: String,
    /// Budget that limited the run, as `--budget` has it; `null` for a run without one, and in older records.
    #[serde(default)]
    pub budget: Option<String>,
    /// Root seed.
    pub seed: u64,
    /// Name of the data set.
    pub data: String,
    /// Number of values outside the range of the encoder's own data that were clipped; 0 in older records.
    #[serde(default)]
    pub n_clipped: usize,
    /// Rule by which the data were split into old and new.
    pub split: String,
    /// Optimizer that trained the encoder; `null` in older records.
    #[serde(default)]
    pub optimizer: Option<String>,
    /// Backend.
    pub backend: String,
    /// Command.
    #[serde(flatten)]
    pub made_by: MadeBy,
    /// Target over all data in nats: retraining's plateau of the exact risk + 1 %; `null` where retraining was not run.
    pub target: Option<f64>,
    /// Target over all, over old and over new data in nats; `null` where retraining was not run.
    pub target_by_origin: Option<ByOrigin<f64>>,
    /// Epochs until the exact risks over old and over new data each reached the target and stayed; `null` for never.
    pub epochs_to_target: Option<usize>,
    /// Sample passes until then.
    pub passes_to_target: Option<u64>,
    /// Charged cost until then, in full passes; `null` for never.
    pub charged_to_target: Option<f64>,
    /// Seconds of training until then.
    pub time_to_target_s: Option<f64>,
    /// Convergence epoch of the paper: that of the lowest training loss.
    pub lowest_loss_epoch: Option<usize>,
    /// Seconds of training until the end of that epoch.
    pub lowest_loss_s: Option<f64>,
    /// Exact risk at the end, in nats.
    pub risk: ByOrigin<f64>,
    /// Exact risk at the end with partners of views from the old data alone, in nats; `null` for views
    /// without partners.
    pub risk_old_partners: Option<ByOrigin<f64>>,
    /// Number of samples that the accuracies are of.
    #[serde(alias = "n_judged")]
    pub n_evaluated: usize,
    /// Mean L^{I,X} over the old data at the end, in nats: R_old of Theorem 2.
    pub nce1_old: f64,
    /// Mean L^{II} over the old data at the end, in nats.
    pub nce2_old: f64,
    /// Exact risk with all its parts before the first step.
    pub start: ExactRisk,
    /// Exact risk with all its parts at the end.
    pub end: ExactRisk,
    /// Accuracy of a linear probe on the final embeddings with its floors; `null` where it was not requested.
    pub linear_probe: Option<ProtocolAccuracies>,
    /// Accuracy of the k nearest neighbours with its floors; `null` where it was not requested.
    pub knn: Option<ProtocolAccuracies>,
    /// Accuracy of the nearest neighbour from five labelled samples a class, mean over several draws of them, with
    /// its floors; `null` where it was not requested.
    pub few_labels: Option<ProtocolAccuracies>,
    /// Accuracies with their floors by protocols that a program adds to these, by their names in words.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub added_protocols: BTreeMap<String, ProtocolAccuracies>,
    /// Seconds of each part of the run.
    pub seconds: Seconds,
    /// Data, rates and encoder of the update.
    #[serde(flatten)]
    pub update: UpdateFacts,
    /// Length and cost of its training.
    #[serde(flatten)]
    pub training: TrainingSummary,
    /// Course of its training.
    #[serde(flatten)]
    pub course: TrainingCourse,
}

impl RunRecord {
    /// Returns the name of a method that runs within a budget among others.
    pub fn method_within(method: &str, budget: &str) -> String {
        format!("{method}@{budget}")
    }

    /// Returns the name of the method without a budget.
    pub fn plain_method(&self) -> &str {
        let budget = self.budget.as_deref().unwrap_or_default();
        let plain = self.method.strip_suffix(budget);
        plain
            .and_then(|name| name.strip_suffix('@'))
            .unwrap_or(&self.method)
    }
}

/// Accuracy on all, old and new data; `None` where the data hold a single class.
pub type AccuracyByOrigin = ByOrigin<Option<f64>>;

/// Accuracy of the final embeddings by one protocol, with its floors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ProtocolAccuracies {
    /// Accuracy.
    pub accuracy: AccuracyByOrigin,
    /// Floors.
    pub floors: FloorAccuracies,
}

/// Accuracies that need no training of the encoder, by one protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct FloorAccuracies {
    /// Accuracy of always answering the most frequent class.
    pub majority: AccuracyByOrigin,
    /// Accuracy on the numbers of nodes and edges; `null` for images.
    pub size: AccuracyByOrigin,
    /// Accuracy on raw features: summed node features, or the pixels of the centre view.
    pub raw: AccuracyByOrigin,
    /// Accuracy on the embeddings of an untrained encoder.
    pub untrained: AccuracyByOrigin,
}

/// Two coordinates per sample, before and after each method, for the map of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EmbeddingMap {
    /// Seed of the runs that the map shows.
    pub seed: u64,
    /// Class of each sample of X′.
    pub labels: Vec<usize>,
    /// Whether each sample is new.
    pub is_new: Vec<bool>,
    /// Embeddings of θ₀.
    pub before: Vec<[f64; 2]>,
    /// Embeddings at the end of each method, in the order of the methods.
    pub after: Vec<(String, Vec<[f64; 2]>)>,
}

impl EmbeddingMap {
    /// Checks that it has one flag per label, and one point before and after each method.
    pub(crate) fn check(&self) -> Result<(), ReportError> {
        let expected = self.labels.len();
        let check = |part: &str, found: usize| {
            if found == expected {
                Ok(())
            } else {
                Err(ReportError::message(format!(
                    "the map has {found} {part} for {expected} labels"
                )))
            }
        };
        check("flags of new samples", self.is_new.len())?;
        check("points before", self.before.len())?;
        for (method, points) in &self.after {
            check(&format!("points after `{method}`"), points.len())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::map;

    #[test]
    fn a_map_has_one_point_a_label() {
        let mut map = map(&["warm"], 10);
        assert!(map.check().is_ok());
        map.after[0].1.pop();
        assert_eq!(
            map.check().unwrap_err().to_string(),
            "the map has 9 points after `warm` for 10 labels"
        );
    }
}
