//! The formats whose readers are tried.

mod checkpoint;
mod cifar;
mod encoder;
mod graphs;
mod idx;
mod image_folder;
mod npy;
mod options;
mod program;
mod results;
mod table;
mod weights;

use std::fmt;
use std::path::Path;

use anyhow::Result;

use crate::parts::Valid;

/// Reads the input in a folder.
pub type Reader = Box<dyn Fn(&Path) -> Result<(), Told>>;

/// What makes a format.
pub type Make = fn() -> Result<Format>;

/// A reader, with valid inputs of it.
pub struct Format {
    /// Name.
    pub name: &'static str,
    /// Valid inputs; every one is read before the edited ones.
    pub valid: Vec<Valid>,
    /// Words that edits insert.
    pub words: &'static [&'static str],
    /// Memory that the reader may take beside what every reader may, in bytes, such as that of an encoder.
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

/// What a user is told of an input that is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The error.
    pub message: String,
    /// Exit code of the program.
    pub exit_code: u8,
}

impl Told {
    /// Makes the error of a library's reader, which is one of the input, into what the program tells.
    fn of(error: impl fmt::Display) -> Self {
        Self {
            message: error.to_string(),
            exit_code: 2,
        }
    }
}

/// Returns the names of all formats, and what makes each of them.
///
/// Making a format may train an encoder of a few parameters, so that its file is a valid input.
pub fn formats() -> Vec<(&'static str, Make)> {
    vec![
        ("tu", graphs::format),
        ("idx", idx::format),
        ("cifar", cifar::format),
        ("images", image_folder::format),
        ("table", table::format),
        ("npy", npy::format),
        ("pth", weights::format),
        ("encoder", encoder::format),
        ("toml", options::format),
        ("record", results::format),
        ("checkpoint", checkpoint::format),
    ]
}
