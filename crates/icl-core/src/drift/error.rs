//! Errors of panels and of the settings of the test.

use crate::{CoreError, Origin};

/// A rejected panel or setting.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DriftError {
    /// Rows without a common shape, or none.
    #[error("{rows}: found {found}, expected {expected}")]
    Shape {
        /// Name of the rows.
        rows: &'static str,
        /// Shape that was found.
        found: String,
        /// Shape that was expected.
        expected: String,
    },
    /// Value that is not finite.
    #[error("{rows}: found {value} in row {row} (counted from 0), expected finite numbers")]
    NotFinite {
        /// Name of the rows.
        rows: &'static str,
        /// Row of the value.
        row: usize,
        /// The value.
        value: f64,
    },
    /// Anchor whose noise of one origin is nothing but itself.
    #[error(
        "anchor {anchor} (counted from 0): found no {} noise but rows equal to it or to its positive, expected at \
         least one other row",
        word(*noise)
    )]
    OnlySelf {
        /// Row of the anchor among the anchors.
        anchor: usize,
        /// Origin of the noise.
        noise: Origin,
    },
    /// Effect threshold that is not a finite number from 0 up.
    #[error("effect: found {found} nats, expected a number from 0 up")]
    Effect {
        /// Rejected value.
        found: f64,
    },
    /// Number of relabellings from which no two tests have a joint level of 5 %.
    #[error("relabellings: found {found}, expected at least 39")]
    Relabellings {
        /// Rejected value.
        found: usize,
    },
    /// Temperature or number of negatives out of range.
    #[error(transparent)]
    Loss(#[from] CoreError),
}

/// Returns the word for an origin.
fn word(origin: Origin) -> &'static str {
    match origin {
        Origin::Old => "old",
        Origin::New => "new",
    }
}
