//! A cell of the grid that has run.

use crate::RunRecord;
use crate::paper::DataSet;
use icl_train::REFERENCE;

/// One data set, growth ratio and seed, with the records of all its methods.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The data set.
    pub data: DataSet,
    /// The growth ratio α as asked for; a split of whole samples comes close to it.
    pub alpha: f64,
    /// The root seed.
    pub seed: u64,
    /// One record a method.
    pub records: Vec<RunRecord>,
}

impl Cell {
    /// The record of a method.
    pub fn record(&self, method: &str) -> Option<&RunRecord> {
        self.records.iter().find(|record| record.method == method)
    }

    /// The record of retraining, against which all are measured.
    pub fn yardstick(&self) -> Option<&RunRecord> {
        self.record(REFERENCE)
    }
}
