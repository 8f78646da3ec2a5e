//! Errors in the text or in the choices of a method.

/// Error in the text or in the choices of a method.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MethodError {
    /// The text is neither the name of a method nor a point of the five axes.
    #[error(
        "found \"{found}\", expected one of {} or a point such as start=trained,sampling=share:0.2,loss=corrected",
        known.join(", ")
    )]
    Name {
        /// Text.
        found: String,
        /// Names of the registry.
        known: Vec<String>,
    },
    /// The point contains an axis that does not exist.
    #[error("found the axis {found}, expected start, sampling, loss, optimizer or rate")]
    Axis {
        /// Name of the axis.
        found: String,
    },
    /// The point contains an axis twice.
    #[error("found the axis {axis} twice in {found}, expected it once")]
    Twice {
        /// Name of the axis.
        axis: String,
        /// Text of the point.
        found: String,
    },
    /// The value does not exist on its axis.
    #[error("{axis}: found {found}, expected {expected}")]
    Value {
        /// Name of the axis.
        axis: &'static str,
        /// Text of the value.
        found: String,
        /// List of the valid values.
        expected: &'static str,
    },
    /// Meta-optimization has a loss that does not separate old data from new, so that it has no support
    /// and no query.
    #[error(
        "found meta-optimization with a loss that does not separate old data from new, expected loss=published or loss=corrected (Eq. 9)"
    )]
    NoSupport,
    /// The method starts from a fresh encoder, and there is none.
    #[error(
        "start: found {start} without a fresh encoder, expected one: pass it to Trainer::update_with as `fresh`"
    )]
    NoFresh {
        /// Text of the start.
        start: String,
    },
    /// The fresh encoder has other parameters than the trained one.
    #[error(
        "the fresh encoder: found {found}, expected {expected} as in the trained encoder, with which {start} blends it"
    )]
    OtherArchitecture {
        /// Text of the start.
        start: String,
        /// First parameter that differs: its shape, or "no parameter".
        found: String,
        /// The same parameter of the trained encoder.
        expected: String,
    },
    /// A method whose gradients need whole batches has batches in several shards.
    #[error(
        "found batches in {n_shards} shards with {what}, whose gradients need whole batches; expected one process and no chunk"
    )]
    Sharded {
        /// Choice that needs whole batches: "meta-optimization" or "a learned rate".
        what: &'static str,
        /// Number of shards of a batch.
        n_shards: usize,
    },
    /// A loss that separates old noise from new has a sampling whose batches do not hold both.
    #[error(
        "found the loss {loss} with the sampling {sampling}, whose batches do not hold both old and new \
         data in known proportion; expected stratified, share:F, widening, widening:F or buffer"
    )]
    NoParts {
        /// Text of the loss.
        loss: String,
        /// Text of the sampling.
        sampling: String,
    },
}
