//! The error of this crate.

use icl_core::{Error, ErrorKind, ErrorOf, KindAbove, SampleError};

/// Error that ended a run, a measurement or an experience of a stream without a result, or a rejected setting, method,
/// checkpoint or stream.
pub type TrainError = ErrorOf<TrainErrorKind>;

/// Kind of a [`TrainError`], as far as a caller may act on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum TrainErrorKind {
    /// A setting, a method or data that are not what is expected; the message says what.
    #[default]
    Invalid,
    /// A text that is neither the name of a method nor a point of the five axes.
    UnknownMethod,
    /// The increment has no new data, so that no update is possible.
    NothingNew,
    /// A sample that cannot be read. Its error is the source.
    Sample,
    /// A checkpoint that is damaged, of another version or run, or no regular file.
    Checkpoint,
    /// A loss, a risk or a parameter that is NaN or infinite.
    NonFinite {
        /// Step, counted from 1 over the run; 0 for the evaluation before the first step.
        step: u64,
        /// First sample whose embedding is not finite; `None` if no sample is at fault: the embeddings of all are not
        /// finite, or those of none.
        sample: Option<usize>,
    },
    /// Embeddings that are all zero or have one direction: every similarity is the same, and no gradient tells samples
    /// apart.
    Collapsed {
        /// Step, counted from 1 over the run; 0 for the evaluation before the first step.
        step: u64,
    },
    /// The callbacks stopped the run. With a checkpoint it can resume from this step.
    Interrupted {
        /// Number of steps done.
        step: u64,
    },
    /// A member has left the group.
    Left,
    /// The members of a group cannot continue together for another reason.
    Group,
    /// An encoder, an argument or a protocol that does not keep its contract, or a failure of the operating system.
    Failed,
}

impl KindAbove for TrainErrorKind {
    fn above(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Left => Self::Left,
            ErrorKind::Group => Self::Group,
            _ => Self::Invalid,
        }
    }
}

/// Returns the error of samples that cannot be read, or of a member that left the group while they were read.
pub(crate) fn unreadable(error: SampleError) -> TrainError {
    match error.downcast_ref::<Error>() {
        Some(error) if matches!(error.kind(), ErrorKind::Left | ErrorKind::Group) => {
            error.clone().into()
        }
        _ => TrainError::message("a sample could not be read")
            .with_source(error)
            .with_kind(TrainErrorKind::Sample),
    }
}

/// Place in a run: the step and the epoch, each counted from 1, and both 0 before the first step.
pub(crate) type Place = (u64, usize);

/// Returns the error of a number that is not finite, such as "the training loss", in the run of a seed. `sample` is the
/// first one at fault, if it is known.
pub(crate) fn not_finite(
    what: &str,
    found: f64,
    (step, epoch): Place,
    seed: u64,
    sample: Option<usize>,
) -> TrainError {
    let error = TrainError::message(format!(
        "{what} is {found} at step {step} (epoch {epoch}, seed {seed}), expected a finite number"
    ));
    of_sample(error, step, sample)
}

/// Returns the error of a number that is not finite with the first sample at fault, if there is one.
pub(crate) fn of_sample(error: TrainError, step: u64, sample: Option<usize>) -> TrainError {
    let error = match sample {
        None => error,
        Some(sample) => TrainError::message(format!(
            "{error}; sample {sample} is the first whose embedding is not finite"
        )),
    };
    error.with_kind(TrainErrorKind::NonFinite { step, sample })
}

/// Returns the error of an increment without new data.
pub(crate) fn nothing_new() -> TrainError {
    TrainError::new("the increment", "no new samples", "at least 2")
        .with_kind(TrainErrorKind::NothingNew)
}

/// Returns the error of a thread that the system refuses.
pub(crate) fn no_thread(source: std::io::Error) -> TrainError {
    TrainError::message("the thread that prepares batches cannot be started")
        .with_source(source)
        .with_kind(TrainErrorKind::Failed)
}
