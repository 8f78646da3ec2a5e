//! How the program fails: one sentence on standard error and an exit code.

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use icl_train::{CheckpointError, TrainError};

use crate::process::interrupt;

/// Why the program stops.
#[derive(Debug)]
pub enum Failure {
    /// What the user gave cannot be used: exit code 2.
    Input(anyhow::Error),
    /// Anything else: exit code 1.
    Other(anyhow::Error),
    /// Somebody asked it to: exit code 130.
    Interrupted(anyhow::Error),
}

impl Failure {
    /// A failure of the user's input.
    pub fn input(error: impl Into<anyhow::Error>) -> Self {
        Self::Input(error.into())
    }

    /// A failure to read or write a file, which is named.
    pub fn file(path: &Path, what: &str, error: std::io::Error) -> Self {
        Self::Other(anyhow::anyhow!("{}: {what}: {error}", path.display()))
    }

    /// Why a training run ended without a result.
    pub fn training(error: TrainError) -> Self {
        match error {
            TrainError::Interrupted { .. } => Self::Interrupted(error.into()),
            TrainError::Checkpoint(error) => Self::checkpoint(error),
            TrainError::Settings(_)
            | TrainError::NothingNew
            | TrainError::Method(_)
            | TrainError::Sample(_) => Self::input(error),
            _ => Self::Other(error.into()),
        }
    }

    /// Why a checkpoint could not be used, which is the input's fault, or written, which is not.
    pub fn checkpoint(error: CheckpointError) -> Self {
        match error {
            CheckpointError::File { .. }
            | CheckpointError::Encode(_)
            | CheckpointError::Module(_) => Self::Other(error.into()),
            _ => Self::input(error),
        }
    }

    /// The exit code that says which kind it is.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Input(_) => ExitCode::from(2),
            Self::Other(_) => ExitCode::FAILURE,
            Self::Interrupted(_) => ExitCode::from(interrupt::EXIT_CODE),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Input(error) | Self::Other(error) | Self::Interrupted(error)) = self;
        let mut before = error.to_string();
        write!(f, "{before}")?;
        for cause in error.chain().skip(1) {
            let cause = cause.to_string();
            // Some errors of other crates end with the cause that they also name.
            if !before.ends_with(&cause) {
                write!(f, ": {cause}")?;
                before = cause;
            }
        }
        Ok(())
    }
}
