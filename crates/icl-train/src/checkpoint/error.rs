//! Errors of checkpoints.

use std::path::PathBuf;

use icl_core::Error;

/// Error that makes a checkpoint unusable.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file cannot be read or written.
    #[error("{}: the checkpoint cannot be {what}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Operation that failed: "read" or "written".
        what: &'static str,
        /// Error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The file does not begin with the header of a checkpoint.
    #[error("{}: found no checkpoint header, expected one line of JSON", path.display())]
    Header {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file was written by another version of this program.
    #[error("{}: found a checkpoint of schema {found}, expected schema {expected}", path.display())]
    Schema {
        /// Path of the file.
        path: PathBuf,
        /// Schema version of the file.
        found: u32,
        /// Schema version of this program.
        expected: u32,
    },
    /// The file is shorter or longer than its header says.
    #[error("{}: found {found} bytes of state, expected {expected}: the file is truncated or has extra bytes", path.display())]
    Length {
        /// Path of the file.
        path: PathBuf,
        /// Number of bytes after the header.
        found: u64,
        /// Number of bytes according to the header.
        expected: u64,
    },
    /// The bytes of the state have changed.
    #[error("{}: found a state with checksum {found:08x}, expected {expected:08x}", path.display())]
    Checksum {
        /// Path of the file.
        path: PathBuf,
        /// CRC-32 of the state in the file.
        found: u32,
        /// CRC-32 according to the header.
        expected: u32,
    },
    /// The checkpoint belongs to another run.
    #[error("{}: found a checkpoint of another run, whose {field} is {found}, expected {expected}", path.display())]
    OtherRun {
        /// Path of the file.
        path: PathBuf,
        /// Name of the fact that differs.
        field: String,
        /// Value in the checkpoint.
        found: String,
        /// Value in this run.
        expected: String,
    },
    /// The state is complete, but belongs to another kind of encoder, optimizer or agent.
    #[error("{}: {unfit}", path.display())]
    Contents {
        /// Path of the file.
        path: PathBuf,
        /// Part of the state that does not fit.
        unfit: Error,
    },
    /// The state cannot be encoded as bytes.
    #[error("the state of the run could not be encoded")]
    Encode(#[source] rmp_serde::encode::Error),
    /// A module or an optimizer cannot be encoded as bytes.
    #[error(transparent)]
    Module(#[from] Error),
}
