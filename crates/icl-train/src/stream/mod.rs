//! Streams of increments: updates one after the other, what is kept of the data that came before, what each update
//! forgets, and when to update.

mod advance;
mod advanced;
mod buffer;
mod error;
mod keep;
mod pending;
mod state;
mod when;

pub use advance::Stream;
pub use advanced::{Advanced, Arriving};
pub use buffer::{Buffer, KeptSample};
pub use error::StreamError;
pub use keep::{Keep, KeepError};
pub use pending::{Decision, Pending};
pub use state::{Experience, StreamState};
pub use when::{When, WhenError};
