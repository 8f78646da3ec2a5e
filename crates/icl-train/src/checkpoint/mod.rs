//! Checkpoints: everything that the rest of a training run depends on, in one file that is whole or
//! not there.

mod error;
mod file;
pub(crate) mod identity;
pub(crate) mod saved;

pub use error::CheckpointError;
pub use file::{read_checkpoint, write_checkpoint};
pub use identity::Identity;
