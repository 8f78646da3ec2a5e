//! What can be wrong with a configuration or a saved agent.

use burn::record::RecorderError;

/// A rejected configuration or saved agent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RlError {
    /// A field of a configuration lies outside its range.
    #[error("{field}: found {found}, expected {expected}")]
    OutOfRange {
        /// The field.
        field: &'static str,
        /// Its value.
        found: f64,
        /// What it should be.
        expected: &'static str,
    },
    /// The bytes do not begin as a saved agent of this version does.
    #[error("saved agent: found the first bytes {found:02x?}, expected {expected:02x?}")]
    Foreign {
        /// The first bytes found; fewer than expected if there are no more.
        found: Vec<u8>,
        /// How a saved agent begins.
        expected: [u8; 8],
    },
    /// Bytes are missing or left over.
    #[error("saved agent: found {found} bytes, expected {expected}")]
    Length {
        /// Bytes found.
        found: u64,
        /// Bytes that the lengths within announce.
        expected: u64,
    },
    /// The bytes are not those that were saved.
    #[error("saved agent: found the checksum {found:016x}, expected {expected:016x}")]
    Checksum {
        /// The checksum of the bytes found.
        found: u64,
        /// The checksum that was saved with them.
        expected: u64,
    },
    /// The agent was saved under another configuration than the one that is to load it.
    #[error("saved agent: found {field} = {found}, expected {expected} as configured")]
    OtherConfig {
        /// The first field that differs.
        field: &'static str,
        /// Its value in the saved agent.
        found: f64,
        /// Its value in the configuration that loads.
        expected: f64,
    },
    /// Burn's recorder could not write or read a part of the agent.
    #[error("saved agent: {0}")]
    Record(#[from] RecorderError),
}
