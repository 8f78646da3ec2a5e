//! Record of one row on one data set with one seed.

use std::path::Path;

use icl_report::{ReportError, parse_records};
use icl_train::UpdateRule;
use serde::{Deserialize, Serialize};

use crate::pages::dacl::data_set::DaclDataSet;
use crate::pages::dacl::row::DaclRow;
use crate::pages::dacl::target::DaclTarget;

/// Version of [`DaclRecord`]'s schema. It grows when a field changes its meaning or is removed.
pub const DACL_SCHEMA: u32 = 1;

/// Record of a row of a reproduced table of DACL, on one data set with one seed.
///
/// Risks are in nats. The key of every duration ends in `_s`; nothing else depends on the speed of the
/// machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DaclRecord {
    /// Version of the schema, [`DACL_SCHEMA`].
    pub schema: u32,
    /// Reproduced table.
    pub target: DaclTarget,
    /// Data set.
    pub data: DaclDataSet,
    /// Row.
    pub row: DaclRow,
    /// Root seed, also of the split into training and test samples.
    pub seed: u64,
    /// Settings that all records of a file share.
    pub settings: DaclSettings,
    /// Number of training samples; all of them under cross-validation.
    pub n_training: usize,
    /// Number of test samples; all of them under cross-validation.
    pub n_test: usize,
    /// Accuracies by classifier.
    pub accuracies: DaclAccuracies,
    /// Training of the encoder; `None` where nothing is trained without labels.
    pub training: Option<DaclTraining>,
    /// Seconds that the row took, evaluation included.
    pub time_s: f64,
}

/// Settings that all records of a file share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DaclSettings {
    /// Number of epochs of the training without labels.
    pub epochs: usize,
    /// Maximum batch size, also a quarter of the training rows of a table.
    pub batch_size: usize,
    /// Width of each layer of the encoder; `None` for a ResNet-18, whose widths are fixed.
    pub width: Option<usize>,
    /// Optimizer of the training without labels. Records of earlier versions lack it: their optimizer is Adam.
    #[serde(default = "adam")]
    pub optimizer: UpdateRule,
    /// Maximum number of samples of a data set.
    pub limit: Option<usize>,
    /// Backend.
    pub backend: String,
}

fn adam() -> UpdateRule {
    UpdateRule::Adam
}

/// Accuracies of a row on test samples, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct DaclAccuracies {
    /// Classifier as the paper prints it, with the learning rate chosen on training samples.
    pub printed: Option<f64>,
    /// Classifier as the paper prints it, with the learning rate that is best on the test samples.
    pub printed_best: Option<f64>,
    /// Logistic regression that has converged, on standardised features.
    pub converged: Option<f64>,
    /// Nearest neighbours.
    pub neighbours: Option<f64>,
    /// Classifier of the row itself: the most frequent class, or the trained classifier.
    pub own: Option<f64>,
    /// Accuracy on validation samples, by which settings are chosen: of the converged classifier, or of the
    /// row's own.
    pub validation: Option<f64>,
}

impl DaclAccuracies {
    /// Returns the accuracy by which rows are compared: that of the converged classifier, or the row's own.
    pub(crate) fn compared(&self) -> Option<f64> {
        self.converged.or(self.own)
    }
}

/// Training of an encoder without labels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DaclTraining {
    /// Batch size.
    pub batch_size: usize,
    /// Number of steps.
    pub n_steps: u64,
    /// Parameter change ‖Δθ‖/‖θ‖. 0 means that nothing was trained.
    pub parameter_change: f64,
    /// Exact risk of the untrained encoder on the row's own views.
    pub risk_before_nats: f64,
    /// Exact risk of the trained encoder on the same views.
    pub risk_after_nats: f64,
    /// Setting that was chosen on validation samples: σ of Gaussian noise.
    pub chosen: Option<f64>,
}

/// Reads records, one a line, of the file at `path`, which an error names.
///
/// # Errors
/// [`ReportError`] if a line is no record of this [`DACL_SCHEMA`].
pub fn parse_dacl_records(path: &Path, text: &str) -> Result<Vec<DaclRecord>, ReportError> {
    parse_records(path, text, "icl-lab reproduce", DACL_SCHEMA)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::dacl::fixture::record;

    #[test]
    fn lines_are_records_of_this_schema() {
        let path = Path::new("out/dacl1.jsonl");
        let of = record(DaclDataSet::Letter, DaclRow::Raw, 3, 0.8);
        let line = serde_json::to_string(&of).unwrap();
        let text = format!("{line}\n{line}\n");
        assert_eq!(parse_dacl_records(path, &text).unwrap(), [of.clone(), of]);
        let wrong = |text: &str| parse_dacl_records(path, text).unwrap_err().to_string();
        let later = line.replace("\"schema\":1", "\"schema\":2");
        assert_eq!(
            wrong(&format!("{line}\n{later}\n")),
            "out/dacl1.jsonl, line 2: found schema 2, expected 1"
        );
        assert!(
            wrong(&line[..40])
                .starts_with("out/dacl1.jsonl, line 1: expected a record of `icl-lab reproduce`: ")
        );
    }

    #[test]
    fn a_record_without_an_optimizer_is_one_of_adam() {
        let of = record(DaclDataSet::Letter, DaclRow::Raw, 3, 0.8);
        let line = serde_json::to_string(&of).unwrap();
        let earlier = line.replace(r#","optimizer":"adam""#, "");
        assert_ne!(earlier, line);
        let read = |line: &str| parse_dacl_records(Path::new("out/dacl1.jsonl"), line).unwrap();
        assert_eq!(read(&earlier), [of]);
        let of_lars = line.replace(r#""optimizer":"adam""#, r#""optimizer":"lars""#);
        assert_eq!(read(&of_lars)[0].settings.optimizer, UpdateRule::Lars);
    }
}
