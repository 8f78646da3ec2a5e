//! One call of the program: its arguments, its command, its exit code.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::commands::{
    backends, compare_backends, diagnose, embed, fetch, methods, report, reproduce, run, split,
    train, update,
};
use crate::options::command_line::Command;
use crate::options::parse::{ParseError, parse};
use crate::process::failure::Failure;
use crate::process::panics::silence_decoders;
use crate::process::terminal::{brief, print, tell};
use crate::process::threads;

/// Runs the program with these arguments, the first of which is its name, and returns its exit code: 0, 1 for a fault
/// of the machine, 2 for wrong input and 130 after an interruption.
///
/// Help and the version end the process.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    silence_decoders();
    let command = match parse(arguments) {
        Ok(command) => command,
        Err(ParseError::CommandLine(error)) if error.use_stderr() => {
            tell(brief(&error.to_string()));
            return ExitCode::from(2);
        }
        // Help, and the version.
        Err(ParseError::CommandLine(error)) => error.exit(),
        Err(ParseError::File(failure)) => return fail(&failure),
        Err(ParseError::Complete(folder)) => {
            return end(print(format_args!(
                "already complete: {}",
                folder.display()
            )));
        }
    };
    let result = threads::start().and_then(|()| run_command(command));
    end(result)
}

fn run_command(command: Command) -> Result<(), Failure> {
    match command {
        Command::Backends(options) => backends::show(&options),
        Command::CompareBackends(options) => compare_backends::compare(*options),
        Command::Diagnose(options) => diagnose::diagnose(&options),
        Command::Embed(options) => embed::embed(*options),
        Command::Fetch(options) => fetch::fetch(&options),
        Command::Methods(options) => methods::show(&options),
        Command::ProbeBackend { backend } => crate::backend::probe_here(&backend),
        Command::Report(options) => report::rebuild(&options),
        Command::Reproduce(options) => reproduce::reproduce(&options),
        Command::Run(options) => run::run(*options),
        Command::Split(options) => split::split(&options),
        Command::Train(options) => train::train(*options),
        Command::Update(options) => update::update(*options),
    }
}

/// Reports how a command ended.
fn end(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => fail(&failure),
    }
}

/// Reports the failure in a line on standard error.
fn fail(failure: &Failure) -> ExitCode {
    let kind = match failure {
        Failure::Interrupted(_) => "interrupted",
        _ => "error",
    };
    tell(format_args!("{kind}: {failure}"));
    failure.exit_code()
}
