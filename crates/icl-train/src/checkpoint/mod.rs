//! Checkpoints: everything on which the rest of a training run depends, in one file that is complete
//! or absent.

mod error;
mod file;
pub(crate) mod saved;

pub use error::CheckpointError;
pub use file::{read_checkpoint, write_checkpoint};
