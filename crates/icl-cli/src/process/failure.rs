//! Failures of the program: one sentence on standard error and an exit code.

use std::fmt;
use std::path::Path;

use icl_train::{TrainError, TrainErrorKind};

/// Exit code of a program that was interrupted.
pub const INTERRUPTED: u8 = 130;

/// Failure that ends the program.
#[derive(Debug)]
pub enum Failure {
    /// The user's input cannot be used: exit code 2.
    Input(anyhow::Error),
    /// Any other error: exit code 1.
    Other(anyhow::Error),
    /// The program was interrupted: exit code 130.
    Interrupted(anyhow::Error),
}

impl Failure {
    /// Returns the failure of an input.
    pub fn input(error: impl Into<anyhow::Error>) -> Self {
        Self::Input(error.into())
    }

    /// Returns the failure to read or write a file, which is named.
    pub fn file(path: &Path, what: &str, error: std::io::Error) -> Self {
        Self::Other(anyhow::anyhow!("{}: {what}: {error}", path.display()))
    }

    /// Returns the failure of a training run, a stream or a checkpoint.
    pub fn training(error: TrainError) -> Self {
        match error.kind() {
            TrainErrorKind::Interrupted { .. } => Self::Interrupted(error.into()),
            TrainErrorKind::Left | TrainErrorKind::Group | TrainErrorKind::Failed => {
                Self::Other(error.into())
            }
            _ => Self::input(error),
        }
    }

    /// Returns the failure with `how` its work is continued, unless it is one of the input.
    #[must_use]
    pub fn continued_by(self, how: &str) -> Self {
        let with_how = |message: String, error| {
            let how = how.to_owned();
            anyhow::Error::new(Continued {
                message,
                how,
                error,
            })
        };
        match self {
            Self::Input(error) => Self::Input(error),
            Self::Other(error) => Self::Other(with_how(message(&error), error)),
            Self::Interrupted(error) => Self::Interrupted(with_how(error.to_string(), error)),
        }
    }

    /// Returns the errors that led to the failure, the last one first.
    pub fn causes(&self) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
        let (Self::Input(error) | Self::Other(error) | Self::Interrupted(error)) = self;
        let continued = error.downcast_ref::<Continued>();
        continued.map_or(error, |it| &it.error).chain()
    }

    /// Returns the exit code of this kind of failure.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Input(_) => 2,
            Self::Other(_) => 1,
            Self::Interrupted(_) => INTERRUPTED,
        }
    }
}

/// The failure of a training run.
impl From<TrainError> for Failure {
    fn from(error: TrainError) -> Self {
        Self::training(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Input(error) | Self::Other(error) | Self::Interrupted(error)) = self;
        f.write_str(&message(error))
    }
}

/// An error and how the work that it ended is continued.
#[derive(Debug, thiserror::Error)]
#[error("{message}; {how}")]
struct Continued {
    message: String,
    how: String,
    /// Part of `message` already, and therefore no source.
    error: anyhow::Error,
}

/// Returns an error with its causes as one sentence.
fn message(error: &anyhow::Error) -> String {
    let mut before = error.to_string();
    let mut message = before.clone();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        // Some errors of other crates end with the cause that they also name.
        if !before.ends_with(&cause) {
            message += &format!(": {cause}");
            before = cause;
        }
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_that_is_no_file_is_an_input() {
        let folder = tempfile::tempdir().unwrap();
        let identity = icl_train::Identity::new([]);
        let refused = icl_train::read_checkpoint::<u8>(folder.path(), &identity);
        let refused = Failure::training(refused.unwrap_err());
        assert!(matches!(refused, Failure::Input(_)));
        let path = folder.path().display().to_string();
        assert!(refused.to_string().starts_with(&path), "{refused}");
        let absent = folder.path().join("none").join("a.checkpoint");
        let of_machine = icl_train::write_checkpoint(&absent, &identity, &0_u8).unwrap_err();
        let of_machine = Failure::training(of_machine);
        assert!(matches!(of_machine, Failure::Other(_)));
    }
}
