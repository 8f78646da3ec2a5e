//! Errors in the settings of the views of rows.

use icl_core::Error;

use crate::place::Found;

/// A rejected setting of the views of rows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableViewsError {
    /// α of the mixing coefficient is not from 0 to 1.
    #[error(transparent)]
    Mixing(#[from] Error),
    /// A setting lies outside its interval or is not a number.
    #[error("table views: found {found} as {name}, expected a number {expected}")]
    Number {
        /// Name of the setting.
        name: &'static str,
        /// Rejected value.
        found: f64,
        /// Interval of accepted values.
        expected: &'static str,
    },
    /// A column has values below 0, of which there is no geometric mean.
    #[error(
        "{data}, column {column}: found the value {found}, expected values of at least 0 for geometric mixing (or the noise `auto`, which mixes such a column linearly)"
    )]
    Negative {
        /// Name of the data set to which the schema was fitted.
        data: Found,
        /// Column in question.
        column: Found,
        /// Its smallest value.
        found: f32,
    },
    /// No noise has this name.
    #[error("noise: found {found}, expected one of {}", known.join(", "))]
    UnknownNoise {
        /// Rejected name.
        found: Found,
        /// Names of all kinds of noise.
        known: Vec<&'static str>,
    },
}
