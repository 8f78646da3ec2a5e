//! Figures of the paper on the number of negatives (Wu, Wu and Huang, 2022): those that follow from its equations, and
//! experiments, with records of their rows and the documents that decide on the paper's claims by them.

mod experiment;
mod figures;
mod page;
mod record;
mod row;
mod verdicts;

pub use experiment::AnsExperiment;
pub use figures::{AnsTarget, ans_document};
pub use page::{ExperimentReproduction, experiment_document};
pub use record::{ANS_SCHEMA, AnsMeasures, AnsRecord, AnsSettings, parse_ans_records};
pub use row::{AnsCourse, AnsRow};
