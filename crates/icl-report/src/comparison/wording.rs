//! Sentences that the page and the terminal share.

/// What the target is.
pub(crate) const TARGET: &str = "retraining's plateau of the exact risk over all data + 1 %, held for three evaluations in a row";

/// What stands in its place without retraining.
pub(crate) const NO_TARGET: &str =
    "No target: retraining was not run, so nothing says which risk is good enough.";

/// Why an accuracy is absent.
pub(crate) const ONE_CLASS: &str =
    "not defined: that part of the data holds a single class, so there is nothing to tell apart.";
