//! Checkpoints: everything on which the rest of a training run depends, in one file that is complete
//! or absent.

pub(crate) mod file;

pub use file::{read_checkpoint, write_checkpoint};
