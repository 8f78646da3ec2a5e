//! One call of the program: its arguments, its command, its exit code.

use std::ffi::OsString;
use std::panic::{set_hook, take_hook};
use std::process::ExitCode;

use clap::Parser;

use crate::command_line::Command;
use crate::command_line::parse::{ParseError, parse, program, with_hyphens, with_negative_numbers};
use crate::commands::{
    align, backends, compare_backends, completions, diagnose, embed, export, fetch, keep, man,
    methods, negatives, report, run, show, split, stream, train, update,
};
use crate::files::work_place;
use crate::options::execution::Devices;
use crate::process::child;
use crate::process::failure::Failure;
use crate::process::group::{self, Place};
use crate::process::limits;
use crate::process::terminal::{brief, message, print, say, tell};
use crate::process::threads;

/// Reason why a call of the program failed. Prints as the program does on standard error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// One error of at most three lines and 2,000 characters, without control characters.
    pub message: String,
    /// Exit code: 1 for a fault of the machine, 2 for wrong input and 130 after an interruption.
    pub exit_code: u8,
}

/// Runs the program with these arguments, the first of which is its name, and returns its exit code: that of the
/// [`Refusal`], which it prints, or without one 0, or what a command answers by it.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    prepare();
    exit_code(run(arguments, threads::start))
}

/// Runs a program of other commands as [`main`] runs this one. `work` runs the command that the parser `T` reads from
/// the arguments.
pub fn main_of<T: Parser>(
    arguments: impl IntoIterator<Item = OsString>,
    work: impl FnOnce(T) -> Result<(), Failure>,
) -> ExitCode {
    prepare();
    let parsed = with_negative_numbers(T::command())
        .try_get_matches_from(with_hyphens(arguments))
        .and_then(|matches| T::from_arg_matches(&matches));
    exit_code(match parsed {
        Ok(command) => threads::start()
            .and_then(|()| work(command))
            .map_err(Refusal::from)
            .map(|()| 0),
        Err(error) => without_command(error.into()),
    })
}

/// Prepares the process of a program, before it has other threads.
fn prepare() {
    limits::as_errors();
    child::end_with_parent();
    // A damaged Parquet file makes its decoder panic, which the reader turns into one error.
    let report = take_hook();
    set_hook(Box::new(move |panic| {
        if !icl_data::is_decoding() {
            report(panic);
        }
    }));
}

/// Ends the program, with the message of a refusal.
fn exit_code(outcome: Result<u8, Refusal>) -> ExitCode {
    match outcome {
        Ok(code) => {
            group::leave(Ok(()), say);
            ExitCode::from(code)
        }
        Err(refusal) => {
            tell(&refusal.message);
            group::leave(Err((&refusal.message, refusal.exit_code)), say);
            ExitCode::from(refusal.exit_code)
        }
    }
}

/// Runs the program as [`main`] does in a process that has its threads already, such as one that calls it often.
///
/// # Errors
/// If the program would print an error or be interrupted.
pub fn call(arguments: impl IntoIterator<Item = OsString>) -> Result<(), Refusal> {
    run(arguments, || Ok(())).map(drop)
}

fn run(
    arguments: impl IntoIterator<Item = OsString>,
    start: impl FnOnce() -> Result<(), Failure>,
) -> Result<u8, Refusal> {
    let command = match parse(arguments) {
        Ok(command) => command,
        Err(error) => return without_command(error),
    };
    let command = in_its_group(command)?;
    Ok(start().and_then(|()| run_command(command))?)
}

/// Answers a command line that holds no command to run.
fn without_command(error: ParseError) -> Result<u8, Refusal> {
    match error {
        ParseError::CommandLine(error) if error.use_stderr() => Err(Refusal {
            message: message(brief(&error.to_string())),
            exit_code: 2,
        }),
        // Help, and the version.
        ParseError::CommandLine(error) => {
            // Without a reader there is nothing to do.
            let _ = error.print();
            Ok(0)
        }
        ParseError::File(failure) => Err(failure.into()),
        ParseError::Complete(folder) => {
            print(format_args!("already complete: {}", folder.display()))?;
            Ok(0)
        }
    }
}

/// Returns the command of this process. If the command runs in several processes, this one joins them; all but the
/// first work in folders of their own.
fn in_its_group(mut command: Command) -> Result<Command, Failure> {
    let Some((execution, _)) = command.training() else {
        return Ok(command);
    };
    if execution.devices != Devices::Mpi {
        return Ok(command);
    }
    let resumed = execution.resumed().map(work_place::folders);
    Ok(match group::join(&resumed.unwrap_or_default())? {
        None => command,
        Some(place) => at(&command, &place),
    })
}

/// Returns the command of a member that works at another place.
fn at(command: &Command, place: &Place) -> Command {
    let mut own = command.clone();
    if let Some((execution, out)) = own.training() {
        match place {
            Place::New(folder) => *out = Some(folder.clone()),
            Place::Resumed(folder) => execution.resume = Some(folder.clone()),
        }
    }
    own
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        let kind = match failure {
            Failure::Interrupted(_) => "interrupted",
            _ => "error",
        };
        Self {
            message: message(format_args!("{kind}: {failure}")),
            exit_code: failure.exit_code(),
        }
    }
}

/// Runs a command and returns its exit code.
fn run_command(command: Command) -> Result<u8, Failure> {
    match command {
        Command::Align(options) => align::align(*options),
        Command::Backends { json } => backends::show(json),
        Command::CompareBackends(options) => compare_backends::compare(*options),
        Command::Completions { shell } => completions::print(shell, &program()),
        Command::Diagnose(options) => return diagnose::diagnose(&options),
        Command::Embed(options) => embed::embed(*options),
        Command::Export(options) => export::export(&options),
        Command::Fetch(options) => fetch::fetch(&options),
        Command::Keep(options) => keep::keep(&options),
        Command::Man(options) => man::write(&options, program()),
        Command::Methods { json } => methods::show(json),
        Command::Negatives(options) => negatives::advise(&options),
        Command::ProbeBackend { backend } => crate::backend::probe_here(&backend),
        Command::Report(options) => report::rebuild(&options),
        Command::Run(options) => run::run(*options),
        Command::Show(options) => show::show(&options),
        Command::Split(options) => split::split(&options),
        Command::Stream(options) => return stream::stream(*options),
        Command::Train(options) => train::train(*options),
        Command::Update(options) => return update::update(*options),
    }?;
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_output_takes_the_place_of_the_first() {
        let parsed = |text: &str| parse(text.split(' ').map(OsString::from)).unwrap();
        let place = Place::New("b".into());
        for (found, expected) in [
            ("icl train --out a --data d", "icl train --data d --out b"),
            ("icl train --data d --out=a", "icl train --data d --out b"),
            ("icl run", "icl run --out b"),
        ] {
            let found = at(&parsed(found), &place);
            assert_eq!(format!("{found:?}"), format!("{:?}", parsed(expected)));
        }
    }
}
