//! Errors of configurations and saved agents.

use burn::record::RecorderError;

/// A rejected configuration or saved agent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RlError {
    /// Field of a configuration outside its range.
    #[error("{field}: found {found}, expected {expected}")]
    OutOfRange {
        /// Name of the field.
        field: &'static str,
        /// Value of the field.
        found: f64,
        /// Description of the range.
        expected: &'static str,
    },
    /// Bytes that do not begin like a saved agent of this version.
    #[error("saved agent: found the first bytes {found:02x?}, expected {expected:02x?}")]
    Foreign {
        /// First bytes found, at most as many as expected.
        found: Vec<u8>,
        /// First bytes of a saved agent.
        expected: [u8; 8],
    },
    /// Saved agent with bytes missing or left over.
    #[error("saved agent: found {found} bytes, expected {expected}")]
    Length {
        /// Number of bytes found.
        found: u64,
        /// Number of bytes according to the lengths in the file.
        expected: u64,
    },
    /// Saved agent whose bytes were changed.
    #[error("saved agent: found the checksum {found:016x}, expected {expected:016x}")]
    Checksum {
        /// Checksum of the bytes found.
        found: u64,
        /// Checksum that was saved.
        expected: u64,
    },
    /// Saved agent with another configuration than the one that loads it.
    #[error("saved agent: found {field} = {found}, expected {expected} as configured")]
    OtherConfig {
        /// Name of the first field that differs.
        field: &'static str,
        /// Value in the saved agent.
        found: f64,
        /// Value in the configuration that loads it.
        expected: f64,
    },
    /// Failure of Burn's recorder to write or read a part of the agent.
    #[error("saved agent: {0}")]
    Record(#[from] RecorderError),
}
