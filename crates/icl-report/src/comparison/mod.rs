//! The report of a comparison of methods.

pub(crate) mod aggregate;
mod check;
mod figures;
mod page;
mod page_table;
mod table;
mod verdict;
pub(crate) mod wording;

pub use aggregate::{FloorSummary, MethodSummary, Parts, summarize, summarize_floors};
pub use page::html;
pub use table::terminal_table;
pub use verdict::verdict;
