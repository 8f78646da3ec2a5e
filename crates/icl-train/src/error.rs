//! Errors of training runs.

use icl_core::{Error, GroupError, SampleError};

use crate::checkpoint::CheckpointError;
use crate::method::MethodError;
use crate::negatives::StepNegativesError;
use crate::settings_error::SettingsError;

/// Error that ended a training run without a result.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// A setting is out of its range.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A loss, a risk or a parameter is NaN or infinite.
    #[error(
        "{what} is {found} at step {step} (epoch {epoch}, seed {seed}), expected a finite number{}",
        first_bad(*.sample)
    )]
    NonFinite {
        /// Name of the value: "the training loss", "the support loss", "the exact risk" or "a parameter of the encoder".
        what: &'static str,
        /// Value: NaN or infinite.
        found: f64,
        /// Step, counted from 1 over the run; 0 for the evaluation before the first step.
        step: u64,
        /// Epoch, counted from 1; 0 for the evaluation before the first epoch.
        epoch: usize,
        /// Root seed of the run.
        seed: u64,
        /// First sample whose embedding is not finite; `None` if no sample is at fault: the embeddings of all are not finite, or
        /// those of none.
        sample: Option<usize>,
    },
    /// All embeddings are zero or have one direction: every similarity is the same, and no gradient tells samples apart.
    #[error(
        "the embeddings of all {n_samples} samples are {what} at step {step} (epoch {epoch}, seed {seed}), expected different \
         directions: check the encoder, its input and the learning rate"
    )]
    Collapsed {
        /// Word for all of them: "zero" or "the same".
        what: &'static str,
        /// Number of samples evaluated.
        n_samples: usize,
        /// Step, counted from 1 over the run; 0 for the evaluation before the first step.
        step: u64,
        /// Epoch, counted from 1; 0 for the evaluation before the first epoch.
        epoch: usize,
        /// Root seed of the run.
        seed: u64,
    },
    /// The encoder returns embeddings of another shape than one row for each view.
    #[error(
        "the encoder {encoder}: found {found} from `{call}`, expected {expected}",
        found = rows_of(*.found),
        expected = rows_of(*.expected)
    )]
    Shape {
        /// Type of the encoder.
        encoder: String,
        /// Method that returned the embeddings: "encode", "encode_pairs" or "embed".
        call: &'static str,
        /// Number of rows and their width.
        found: [usize; 2],
        /// Number of views, and the width of the embeddings of other batches, at least 1.
        expected: [usize; 2],
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
    HeldOut(#[source] Error),
    /// The callbacks stopped the run. With a checkpoint it can resume from this step.
    #[error("stopped after step {step}")]
    Interrupted {
        /// Number of steps done.
        step: u64,
    },
    /// A checkpoint cannot be written, read or used.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The state of a learning-rate policy cannot be saved.
    #[error(transparent)]
    Rate(SampleError),
    /// A sample does not exist in the data set.
    #[error("{argument}: found sample {index}, expected an index below {n_samples}")]
    MissingSample {
        /// Argument that refers to the sample: "the increment", "the panel" or "samples".
        argument: &'static str,
        /// Index of the sample.
        index: usize,
        /// Number of samples in the data set.
        n_samples: usize,
    },
    /// An argument holds too few samples.
    #[error("{argument}: found {found} samples, expected at least {expected}")]
    TooFew {
        /// Name of the argument.
        argument: &'static str,
        /// Number of samples.
        found: usize,
        /// Smallest number that is enough.
        expected: usize,
    },
    /// A protocol cannot measure the embeddings.
    #[error("the protocol on the embeddings")]
    Judge(#[source] SampleError),
    /// The members of a group cannot continue together.
    #[error(transparent)]
    Group(#[from] GroupError),
    /// A sample cannot be read.
    #[error("a sample could not be read")]
    Sample(#[source] SampleError),
    /// The system refuses the thread that prepares batches.
    #[error("the thread that prepares batches cannot be started")]
    Thread(#[source] std::io::Error),
}

/// An error while samples are read: of a sample, or of a member that has left the group.
impl From<SampleError> for TrainError {
    fn from(error: SampleError) -> Self {
        match error.downcast::<GroupError>() {
            Ok(error) => Self::Group(*error),
            Err(error) => Self::Sample(error),
        }
    }
}

impl TrainError {
    /// Returns an error of an evaluation with the place in the run at which it was made.
    pub(crate) fn at_step(mut self, at_step: u64, at_epoch: usize) -> Self {
        if let Self::NonFinite { step, epoch, .. } | Self::Collapsed { step, epoch, .. } = &mut self
        {
            (*step, *epoch) = (at_step, at_epoch);
        }
        self
    }
}

/// Names the sample at fault, if there is one.
fn first_bad(sample: Option<usize>) -> String {
    sample.map_or_else(String::new, |sample| {
        format!("; sample {sample} is the first whose embedding is not finite")
    })
}

/// Describes the shape of embeddings.
fn rows_of([n, width]: [usize; 2]) -> String {
    format!("{n} rows of width {width}")
}
