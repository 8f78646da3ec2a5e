//! Runs cargo.

use std::ffi::OsString;
use std::process::{Command, ExitCode, ExitStatus};

use anyhow::Context;

/// Returns the command of the cargo that runs this program, with these arguments.
pub fn command<const N: usize>(arguments: [&str; N]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.args(arguments);
    command
}

/// Runs a command to its end. Its output is this program's.
///
/// # Errors
/// If it cannot be started.
pub fn status(command: &mut Command) -> anyhow::Result<ExitStatus> {
    command
        .status()
        .with_context(|| format!("{:?} could not be started", command.get_program()))
}

/// Runs a command as [`status`] does and returns its exit code, or 1 if a signal ended it.
///
/// # Errors
/// If it cannot be started.
pub fn exit_code(command: &mut Command) -> anyhow::Result<ExitCode> {
    let code = status(command)?.code();
    let code = code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}
