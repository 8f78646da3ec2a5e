//! What makes a checkpoint unusable.

use std::path::PathBuf;

use icl_core::module_bytes::EncodeError;

/// Why a checkpoint could not be written or taken up.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// A file could not be read or written.
    #[error("{}: the checkpoint cannot be {what}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// "read" or "written".
        what: &'static str,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file does not begin as a checkpoint does.
    #[error("{}: found no header of a checkpoint, expected one line of JSON", path.display())]
    Header {
        /// The file.
        path: PathBuf,
    },
    /// The file is of another version of this program.
    #[error("{}: found a checkpoint of schema {found}, expected schema {expected}", path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// This version.
        expected: u32,
    },
    /// The file is shorter or longer than it says.
    #[error("{}: found {found} bytes of state, expected {expected}: the file is cut or grown", path.display())]
    Length {
        /// The file.
        path: PathBuf,
        /// Bytes after the header.
        found: u64,
        /// Bytes that the header promises.
        expected: u64,
    },
    /// Bytes of the file have changed.
    #[error("{}: found a state with checksum {found:08x}, expected {expected:08x}", path.display())]
    Checksum {
        /// The file.
        path: PathBuf,
        /// CRC-32 of what is there.
        found: u32,
        /// CRC-32 of what was written.
        expected: u32,
    },
    /// The checkpoint is of another run.
    #[error("{}: found a checkpoint of another run, whose {field} is {found}, expected {expected}", path.display())]
    OtherRun {
        /// The file.
        path: PathBuf,
        /// What differs.
        field: String,
        /// Its value there.
        found: String,
        /// Its value in this run.
        expected: String,
    },
    /// The state is whole, but is not one of this kind of encoder, optimizer or agent.
    #[error("{}: found contents that do not fit the encoder, expected those of this run", path.display())]
    Contents {
        /// The file.
        path: PathBuf,
    },
    /// The state could not be turned into bytes.
    #[error("the state could not be written down")]
    Encode(#[source] rmp_serde::encode::Error),
    /// Burn could not turn a module or an optimizer into bytes.
    #[error(transparent)]
    Module(#[from] EncodeError),
}
