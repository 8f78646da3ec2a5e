//! Errors of training runs.

use icl_core::{CoreError, GroupError, SampleError};

use crate::checkpoint::CheckpointError;
use crate::method::MethodError;
use crate::negatives::StepNegativesError;
use crate::trainer::settings_error::SettingsError;

/// Error that ended a training run without a result.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// A setting is out of its range.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A loss or a risk is NaN or infinite.
    #[error(
        "{what} is {found} at step {step} (epoch {epoch}, seed {seed}), expected a finite number"
    )]
    NonFinite {
        /// Name of the value: "the training loss", "the support loss" or "the exact risk".
        what: &'static str,
        /// Value: NaN or infinite.
        found: f64,
        /// Step, counted from 1 over the run; 0 for the evaluation before the first step.
        step: u64,
        /// Epoch, counted from 1; 0 for the evaluation before the first epoch.
        epoch: usize,
        /// Root seed of the run.
        seed: u64,
    },
    /// The loss depends on no parameter of the encoder.
    #[error(
        "the encoder: found no parameter on which the loss depends, expected at least one to train"
    )]
    NothingToTrain,
    /// The increment has no new data, so that no update is possible.
    #[error("the increment: found no new samples, expected at least 2")]
    NothingNew,
    /// The choices of the method do not fit each other.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// Noise of both views for a loss that separates old noise from new.
    #[error(
        "noise set: found both, expected other: the loss of this method separates old noise from new, which \
         is defined for the other side's views only"
    )]
    BothViews,
    /// The negatives of the steps do not fit the other settings.
    #[error(transparent)]
    Negatives(#[from] StepNegativesError),
    /// Too few samples are left when some are held out for the number of negatives.
    #[error("the samples that are held out for the number of negatives")]
    HeldOut(#[source] CoreError),
    /// The callbacks stopped the run. With a checkpoint it can resume from this step.
    #[error("stopped after step {step}")]
    Interrupted {
        /// Number of steps taken.
        step: u64,
    },
    /// A checkpoint cannot be written, read or used.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The state of a learning-rate policy cannot be saved.
    #[error(transparent)]
    Rate(#[from] icl_meta::RateError),
    /// The increment refers to a sample that the data set does not contain.
    #[error("the increment: found sample {index}, expected an index below {n_samples}")]
    MissingSample {
        /// Index of the sample.
        index: usize,
        /// Number of samples in the data set.
        n_samples: usize,
    },
    /// The members of a group cannot go on together.
    #[error(transparent)]
    Group(#[from] GroupError),
    /// A sample cannot be read.
    #[error("a sample could not be read")]
    Sample(#[source] SampleError),
    /// The system refuses the thread that prepares batches.
    #[error("the thread that prepares batches cannot be started")]
    Thread(#[source] std::io::Error),
}

impl TrainError {
    /// Returns the error of an evaluation: a sample that cannot be read, or a member that has left the group.
    #[must_use]
    pub fn of_evaluation(error: SampleError) -> Self {
        match error.downcast::<GroupError>() {
            Ok(error) => Self::Group(*error),
            Err(error) => Self::Sample(error),
        }
    }
}
