//! Running cargo.

use std::ffi::OsString;
use std::process::{Command, ExitCode, ExitStatus};

use anyhow::Context;

/// The cargo that runs this program, with these arguments.
pub fn command<const N: usize>(arguments: [&str; N]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.args(arguments);
    command
}

/// Runs a command to its end; what it prints goes where this program's output goes.
pub fn status(command: &mut Command) -> anyhow::Result<ExitStatus> {
    command
        .status()
        .with_context(|| format!("{:?} could not be started", command.get_program()))
}

/// As [`status`], as the exit code to end with: the command's own, or 1 if a signal ended it.
pub fn exit_code(command: &mut Command) -> anyhow::Result<ExitCode> {
    let code = status(command)?.code();
    let code = code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}
