//! One encoder before and after an update.

mod bought;
mod chart;
mod guide;
mod page;
mod table;
mod task;
mod verdict;

pub use page::update_document;
pub(crate) use verdict::answer_words;
pub use verdict::verdict_sentences;
