//! The error of this crate.

use std::fmt::Display;

use burn::record::RecorderError;

/// A rejected configuration or saved agent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RlError {
    /// A field of a configuration outside its range, or a saved agent that is damaged, of another version or of another
    /// configuration.
    #[error("{place}: found {found}, expected {expected}")]
    Invalid {
        /// Name of the field, or "saved agent".
        place: &'static str,
        /// Value that was found.
        found: String,
        /// Description of valid values.
        expected: String,
    },
    /// Failure of Burn's recorder to write or read a part of the agent.
    #[error("saved agent: {0}")]
    Record(#[from] RecorderError),
}

impl RlError {
    /// Creates the error of a field of a configuration.
    pub(crate) fn of_field(field: &'static str, found: f64, expected: &str) -> Self {
        Self::Invalid {
            place: field,
            found: found.to_string(),
            expected: expected.to_owned(),
        }
    }

    /// Creates the error of a saved agent.
    pub(crate) fn of_saved(found: impl Display, expected: impl Display) -> Self {
        Self::Invalid {
            place: "saved agent",
            found: found.to_string(),
            expected: expected.to_string(),
        }
    }
}
