//! Page of a recommended number of negatives, by the model of label noise of Wu et al. (2022).

mod advice;
mod charts;
mod figure4;
mod figure5;
mod page;
mod printed_claim;
mod reproduction;
mod search;
mod stage_charts;
mod target;

pub use advice::{NegativesAdvice, PredictionCourse};
pub use page::negatives_document;
pub use reproduction::ans_document;
pub use target::AnsTarget;
