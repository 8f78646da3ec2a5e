//! Page of a recommended number of negatives, by the model of label noise of Wu et al. (2022).

mod advice;
mod charts;
mod page;

pub use advice::{BestAt, NegativesAdvice, PredictionCourse, SEPARATIONS};
pub use charts::{best_k, figure, over_k, shares_over_k};
pub use page::negatives_document;
