//! Checkpoints: everything that the rest of a training run depends on, in one file that is whole or
//! not there.

mod error;
mod file;
mod identity;
mod module_bytes;

pub use error::CheckpointError;
pub use file::{read_checkpoint, write_atomically, write_checkpoint};
pub use identity::Identity;

pub(crate) use identity::digest;
pub(crate) use module_bytes::{Bytes, Unfit, load_module, load_record, save_module, save_record};
