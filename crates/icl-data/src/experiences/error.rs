//! Errors of the division of a data set into experiences.

use crate::place::Found;

/// A stream that cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ExperiencesError {
    /// Text that names no division.
    #[error(
        "split: found {found}, expected `data:T`, `class:T`, `size:T`, `time:COLUMN`, `time:COLUMN:T`, `blurred:T:SHARE`, \
         `imbalanced:T:RATIO` or `concurrent:T:N`"
    )]
    Unknown {
        /// Rejected text.
        found: Found,
    },
    /// Fewer than two experiences.
    #[error("split {split}: found {found} experiences, expected at least 2")]
    Few {
        /// Text of the division.
        split: Found,
        /// Number of experiences.
        found: usize,
    },
    /// More experiences than classes.
    #[error(
        "split {split}: found {found} classes, expected at least {expected}, one for each experience"
    )]
    Classes {
        /// Text of the division.
        split: Found,
        /// Number of classes.
        found: usize,
        /// Number of experiences.
        expected: usize,
    },
    /// Experience with fewer samples than a contrastive loss and a panel need.
    #[error(
        "split {split}: found {found} samples in experience {experience}, expected at least {expected}"
    )]
    Small {
        /// Text of the division.
        split: Found,
        /// Experience, from 1.
        experience: usize,
        /// Number of its samples.
        found: usize,
        /// Least number of samples.
        expected: usize,
    },
}
