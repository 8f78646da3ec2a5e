//! Comparison of methods.

mod charts;
mod check;
mod cost_chart;
mod distance;
mod guide;
mod headline;
mod page;
pub(crate) mod protocols;
mod runs;
mod tables;

pub use page::comparison_document;
