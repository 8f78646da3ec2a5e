//! Record of one row with one seed.

use std::path::Path;

use icl_report::{ReportError, parse_records};
use serde::{Deserialize, Serialize};

use crate::pages::ans::experiment::AnsExperiment;
use crate::pages::ans::row::AnsRow;

/// Version of [`AnsRecord`]'s schema. It grows when a field changes its meaning or is removed.
pub const ANS_SCHEMA: u32 = 1;

/// Record of a row of an experiment on the number of negatives, with one seed.
///
/// The key of every duration ends in `_s`; nothing else depends on the speed of the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnsRecord {
    /// Version of the schema, [`ANS_SCHEMA`].
    pub schema: u32,
    /// Experiment.
    pub target: AnsExperiment,
    /// Name of the data set.
    pub data: String,
    /// Row.
    pub row: AnsRow,
    /// Root seed, also of a split that is drawn.
    pub seed: u64,
    /// Settings that all records of a file share.
    pub settings: AnsSettings,
    /// Number of training pairs.
    pub n_training: usize,
    /// Number of queries of the test.
    pub n_test: usize,
    /// AUC on training pairs, by which the model of label noise predicts the best number; `None` where nothing is trained.
    pub training_auc: Option<f64>,
    /// Measures on validation pairs.
    pub validation: AnsMeasures,
    /// Measures on the test, among all candidates.
    pub test: AnsMeasures,
    /// Measures on the test, among 100 candidates that are drawn for each query; `None` without an encoder.
    pub sampled: Option<AnsMeasures>,
    /// Measures of the untrained encoder on the test, a floor; `None` without an encoder.
    pub untrained: Option<AnsMeasures>,
    /// Parameter change ‖Δθ‖/‖θ‖. 0 means that nothing was trained.
    pub parameter_change: f64,
    /// Number of steps.
    pub n_steps: u64,
    /// Mean number of negatives K of the steps of each epoch.
    pub step_negatives: Vec<f64>,
    /// Number of negatives that were scored in training, on average over the draws.
    pub n_scored: f64,
    /// Seconds that the row took, measures included.
    pub time_s: f64,
}

/// Settings that all records of a file share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnsSettings {
    /// Number of epochs of most rows.
    pub epochs: usize,
    /// Batch size.
    pub batch_size: usize,
    /// Width of the embeddings.
    pub width: usize,
    /// Learning rate of Adam.
    pub learning_rate: f64,
    /// Temperature τ.
    pub temperature: f64,
    /// Peak K* of the courses.
    pub peak: f64,
    /// Backend.
    pub backend: String,
}

/// Measures of a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct AnsMeasures {
    /// Mean AUC of the queries.
    pub auc: f64,
    /// HR@10, of texts HR@5.
    pub hit_rate: f64,
    /// nDCG@10.
    pub ndcg: f64,
}

/// Reads records, one a line, of the file at `path`, which an error names.
///
/// # Errors
/// [`ReportError`] if a line is no record of this [`ANS_SCHEMA`].
pub fn parse_ans_records(path: &Path, text: &str) -> Result<Vec<AnsRecord>, ReportError> {
    parse_records(path, text, "icl-lab reproduce", ANS_SCHEMA)
}
