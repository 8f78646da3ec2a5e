//! Checkpoints: everything on which the rest of a training run depends, in one file that is complete
//! or absent.

mod error;
pub(crate) mod file;

pub use error::CheckpointError;
pub use file::{read_checkpoint, write_checkpoint};
