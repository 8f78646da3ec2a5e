//! Streams of increments: what is kept of the data that came before.

mod buffer;
mod keep;

pub use buffer::{Buffer, KeptSample};
pub use keep::{Keep, KeepError};
