//! One encoder before and after an update.

mod chart;
mod guide;
mod page;
mod table;
mod verdict;

pub use page::update_document;
