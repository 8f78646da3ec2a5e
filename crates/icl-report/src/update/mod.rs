//! One encoder before and after an update.

mod bought;
mod chart;
mod guide;
mod page;
mod table;
mod verdict;

pub use page::update_document;
pub use verdict::verdict_sentences;
