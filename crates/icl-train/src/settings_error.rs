//! Error in a setting of training runs.

/// Error in a setting that is out of its range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{field}: found {found}, expected {expected}")]
pub struct SettingsError {
    /// Name of the field.
    pub field: &'static str,
    /// Value of the field.
    pub found: f64,
    /// Range of valid values.
    pub expected: &'static str,
}
