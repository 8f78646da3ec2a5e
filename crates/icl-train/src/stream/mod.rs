//! Streams of increments: updates one after the other, what is kept of the data that came before, and what each update
//! forgets.

mod advance;
mod advanced;
mod buffer;
mod error;
mod keep;
mod state;

pub use advance::Stream;
pub use advanced::{Advanced, Arriving};
pub use buffer::{Buffer, KeptSample};
pub use error::StreamError;
pub use keep::{Keep, KeepError};
pub use state::{Experience, StreamState};
