//! Records and what is shown of them: documents for HTML, Markdown and the terminal, with charts.

mod backends;
mod backends_table;
mod chart;
mod comparison;
mod document;
mod error;
#[cfg(test)]
pub(crate) mod fixture;
mod number;
pub mod paper;
mod record;
mod summary;
mod update;

pub use backends::backends_html;
pub use backends_table::backends_table;
pub use comparison::{
    FloorSummary, MethodSummary, Parts, html, summarize, summarize_floors, terminal_table, verdict,
};
pub use document::Document;
pub use error::ReportError;
pub use record::*;
pub use summary::Summary;
pub use update::{train_table, update_html, update_table};
