//! Streams of experiences from one data set: what arrives first, next, and last.

mod error;
mod stream_split;
mod text;

pub use error::ExperiencesError;
pub use stream_split::{StreamKey, StreamSplit};
