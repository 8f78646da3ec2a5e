//! Points of the five axes that cannot be.

/// Why a text names no method, or a point is no method.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MethodError {
    /// The text is neither the name of a method nor a point.
    #[error(
        "found {found}, expected one of {} or a point such as start=trained,sampling=share:0.2,loss=corrected",
        known.join(", ")
    )]
    Name {
        /// The text.
        found: String,
        /// The names of the registry.
        known: Vec<String>,
    },
    /// A point names an axis that does not exist.
    #[error("found the axis {found}, expected start, sampling, loss, optimizer or rate")]
    Axis {
        /// The axis.
        found: String,
    },
    /// A point names an axis twice.
    #[error("found the axis {axis} twice in {found}, expected it once")]
    Twice {
        /// The axis.
        axis: String,
        /// The point.
        found: String,
    },
    /// A value is not on its axis.
    #[error("{axis}: found {found}, expected {expected}")]
    Value {
        /// The axis.
        axis: &'static str,
        /// The value.
        found: String,
        /// The values that there are.
        expected: &'static str,
    },
    /// Meta-optimization needs a loss that tells support from query.
    #[error(
        "found meta-optimization of a loss that does not tell old data from new, expected Eq. 9, published or corrected"
    )]
    NoSupport,
    /// A loss that tells old noise from new needs samples of both.
    #[error(
        "found the loss {loss} with the sampling {sampling}, whose batches do not hold both old and new \
         data in known proportion; expected stratified, share:F, widening:F or buffer"
    )]
    NoParts {
        /// The loss.
        loss: String,
        /// The sampling.
        sampling: String,
    },
}
