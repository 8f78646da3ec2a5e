//! A reader, its valid inputs, and the error that a user reads.

use std::fmt;
use std::path::Path;

use anyhow::Result;

use crate::parts::Valid;

/// Reads the input in a folder.
pub type Reader = Box<dyn Fn(&Path) -> Result<(), Told>>;

/// Function that makes a format.
pub type Make = fn() -> Result<Format>;

/// A reader, with valid inputs of it.
pub struct Format {
    /// Name.
    pub name: &'static str,
    /// Valid inputs; every one is read before the edited ones.
    pub valid: Vec<Valid>,
    /// Words that edits insert.
    pub words: &'static [&'static str],
    /// Memory that the reader may take next to what every reader may, in bytes, such as that of an encoder.
    pub memory: u64,
    /// The reader.
    pub read: Reader,
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Format")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Error of an input that is refused, as a user reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The error.
    pub message: String,
    /// Exit code of the program.
    pub exit_code: u8,
}

impl Told {
    /// Makes the error of a library's reader, which is one of the input, into what the program tells.
    pub(super) fn of(error: impl fmt::Display) -> Self {
        Self {
            message: error.to_string(),
            exit_code: 2,
        }
    }
}
