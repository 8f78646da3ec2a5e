//! One encoder over a stream of experiences.

mod charts;
mod check;
mod guide;
mod headline;
mod labels;
mod page;
mod tables;

pub use page::stream_document;
