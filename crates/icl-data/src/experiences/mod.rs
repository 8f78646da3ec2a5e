//! Streams of experiences from one data set: what arrives first, next, and last.

mod stream_split;
mod text;

pub use stream_split::{StreamKey, StreamSplit};
