//! Pairs of texts: reader, writer, vocabulary, samples, views, collation.

mod collate;
mod dataset;
mod pairs;
mod views;
mod vocabulary;
mod write;

pub use collate::TextPairCollate;
pub use dataset::{TextPair, TextPairDataset};
pub use pairs::{TextPairOptions, TextPairs, read_text_pairs};
pub use views::{TextPairView, TextPairViews};
pub use vocabulary::Vocabulary;
