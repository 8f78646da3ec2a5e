//! Streams of increments: updates one after the other, what is kept of the data that came before, what each update
//! forgets, and when to update.

mod advanced;
mod buffer;
mod decision;
mod division;
mod keep;
mod measurement;
mod policy;
mod row;
mod settings;
mod state;
mod strategy;
mod updates;
mod waiting;
mod when;

pub use advanced::{Advanced, Arriving, Live, NextUpdate};
pub use buffer::{Buffer, KeptSample};
pub use decision::Decision;
pub use keep::Keep;
pub use policy::Policy;
pub use row::SparseRow;
pub use settings::Stream;
pub use state::{Experience, StreamMemory, StreamState};
pub use strategy::Strategy;
pub use when::When;
