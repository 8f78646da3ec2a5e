//! The error of this crate.

use icl_core::{ErrorOf, KindAbove};

/// A rejected input, a fit that did not converge, or a request to stop.
pub type EvalError = ErrorOf<EvalErrorKind>;

/// Kind of an [`EvalError`], as far as a caller may act on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum EvalErrorKind {
    /// Embeddings, labels or a setting that are not what is expected; the message says what.
    #[default]
    Invalid,
    /// A matrix with an entry that is NaN or infinite.
    NotFinite,
    /// Data with too few samples for k neighbours of each.
    TooFew,
    /// A fit or a decomposition that did not converge.
    NotConverged,
    /// A measurement that was interrupted by [`Watch::stop_when`](crate::Watch::stop_when).
    Interrupted,
}

impl KindAbove for EvalErrorKind {}

/// Returns the error of a measurement that was interrupted.
pub(crate) fn interrupted() -> EvalError {
    EvalError::message("interrupted").with_kind(EvalErrorKind::Interrupted)
}

/// Checks the number of neighbours k of each sample.
pub(crate) fn check_k(k: usize) -> Result<(), EvalError> {
    EvalError::unless(k > 0, "neighbours (k)", 0, "at least 1")
}

/// Checks that there are more samples than neighbours of each.
pub(crate) fn check_enough(n: usize, k: usize) -> Result<(), EvalError> {
    let (found, expected) = (format!("{n} samples"), format!("more than k = {k}"));
    EvalError::unless(n > k, "neighbours", found, expected)
        .map_err(|error| error.with_kind(EvalErrorKind::TooFew))
}
