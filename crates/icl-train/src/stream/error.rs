//! Errors of streams.

use icl_core::{Error, GroupError};

use crate::error::TrainError;
use crate::settings_error::SettingsError;

/// Error that ended the update for an experience; the state before it is still valid.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// A number of the policy is out of its range.
    #[error(transparent)]
    Policy(#[from] SettingsError),
    /// An experience has the name of an earlier one: the names are what random draws depend on.
    #[error("experience {found:?}: found the name of an earlier experience, expected another one")]
    Repeated {
        /// Name.
        found: String,
    },
    /// A list of experiences does not begin with those that the stream has gone through.
    #[error(
        "found {} as experience {}, expected {expected:?}, which the stream has gone through",
        .found.as_ref().map_or("nothing".to_owned(), |found| format!("{found:?}")),
        .at + 1
    )]
    Order {
        /// Place in the list, from 0.
        at: usize,
        /// Name that is there; `None` behind its end.
        found: Option<String>,
        /// Name of the experience.
        expected: String,
    },
    /// A sample has come before.
    #[error(
        "experience {experience:?}: found sample {sample}, which has come before, expected new samples"
    )]
    Known {
        /// Name of the experience.
        experience: String,
        /// Number of the sample.
        sample: usize,
    },
    /// A sample does not exist.
    #[error("experience {experience:?}: found sample {sample}, expected samples below {n_samples}")]
    Absent {
        /// Name of the experience.
        experience: String,
        /// Number of the sample.
        sample: usize,
        /// Number of samples.
        n_samples: usize,
    },
    /// An experience has too few samples to train on some and to measure on others.
    #[error("experience {experience:?}: found {found} {what}, expected at least {expected}")]
    Few {
        /// Name of the experience.
        experience: String,
        /// Number of samples found.
        found: usize,
        /// Samples in question: all, or held-out ones.
        what: &'static str,
        /// Number of samples that are needed.
        expected: usize,
    },
    /// The samples of an experience cannot be divided.
    #[error("experience {experience:?}: {source}")]
    Division {
        /// Name of the experience.
        experience: String,
        /// Error of the division.
        source: Error,
    },
    /// The training ended without a result.
    #[error("experience {experience:?}: {source}")]
    Training {
        /// Name of the experience.
        experience: String,
        /// Error of the training.
        source: TrainError,
    },
    /// Held-out samples cannot be measured: one cannot be read, say.
    #[error("held-out samples: {0}")]
    Measurement(#[source] TrainError),
    /// The members of a group cannot continue together.
    #[error(transparent)]
    Group(#[from] GroupError),
    /// A drift cannot be measured.
    #[error("experience {experience:?}: {source}")]
    Drift {
        /// Name of the experience.
        experience: String,
        /// Error of the measurement.
        source: Error,
    },
}

impl StreamError {
    /// Returns the error of a measurement.
    pub(super) fn of_evaluation(error: TrainError) -> Self {
        match error {
            TrainError::Group(error) => Self::Group(error),
            error => Self::Measurement(error),
        }
    }
}
