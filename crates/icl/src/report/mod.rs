//! The report of a comparison: its numbers over the seeds, a table for the terminal and one
//! self-contained HTML page.

mod aggregate;
mod backends;
mod chart;
mod check;
mod error;
mod figures;
#[cfg(test)]
pub(crate) mod fixture;
mod markup;
mod number;
mod page;
mod page_table;
mod reproduction;
mod shell;
mod summary;
mod table;
mod train_table;
mod update;
mod verdict;
mod wording;

pub use aggregate::{FloorSummary, MethodSummary, Parts, summarize, summarize_floors};
pub use backends::{backends_html, backends_table};
pub use error::ReportError;
pub use page::html;
pub use reproduction::{Document, Provenance, Reproduction};
pub use summary::Summary;
pub use table::terminal_table;
pub use train_table::train_table;
pub use update::{update_html, update_table};
pub use verdict::verdict;
