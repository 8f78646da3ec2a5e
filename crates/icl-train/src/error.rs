//! What can end a training run.

use icl_core::SampleError;

use crate::checkpoint::CheckpointError;
use crate::method::MethodError;
use crate::trainer::settings::SettingsError;

/// Why a training run ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// A setting cannot be.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A loss or a risk is NaN or infinite.
    #[error(
        "{what} is {found} at step {step} (epoch {epoch}, seed {seed}), expected a finite number"
    )]
    NonFinite {
        /// "the training loss", "the support loss" or "the exact risk".
        what: &'static str,
        /// The value.
        found: f64,
        /// The step, counted from 1 over the run; 0 for the evaluation before the first.
        step: u64,
        /// The epoch, counted from 1; 0 for the evaluation before the first.
        epoch: usize,
        /// The run's root seed.
        seed: u64,
    },
    /// No parameter of the encoder takes part in the loss.
    #[error("the encoder has no parameter that the loss depends on: nothing can be trained")]
    NothingToTrain,
    /// An increment without new data was to be learned.
    #[error("the increment: found no new samples, expected at least 2")]
    NothingNew,
    /// The method is no method.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// A queue of old noise needs a loss that tells old noise from new.
    #[error(
        "old_queue: found {found} with a loss that does not tell old noise from new, expected Eq. 9, published or corrected"
    )]
    NoOldNoise {
        /// The entries that the queue was to hold.
        found: usize,
    },
    /// The run was asked to stop. With a checkpoint it can go on from this step.
    #[error("stopped after step {step}")]
    Interrupted {
        /// Steps taken.
        step: u64,
    },
    /// A checkpoint could not be written or taken up.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The state of a learning-rate policy could not be saved.
    #[error(transparent)]
    Rate(#[from] icl_meta::RateError),
    /// The increment names a sample that the data set does not have.
    #[error("the increment: found sample {index}, expected an index below {n_samples}")]
    MissingSample {
        /// The index.
        index: usize,
        /// The samples that there are.
        n_samples: usize,
    },
    /// A sample could not be read.
    #[error("a sample could not be read")]
    Sample(#[source] SampleError),
}
