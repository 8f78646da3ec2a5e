//! The report of a comparison: its numbers over the seeds, a table for the terminal and one
//! self-contained HTML page.

mod aggregate;
mod chart;
mod check;
mod error;
mod figures;
#[cfg(test)]
mod fixture;
mod markup;
mod number;
mod page;
mod page_table;
mod summary;
mod table;
mod verdict;
mod wording;

pub use aggregate::{FloorSummary, MethodSummary, Parts, summarize, summarize_floors};
pub use error::ReportError;
pub use page::html;
pub use summary::Summary;
pub use table::terminal_table;
pub use verdict::verdict;
