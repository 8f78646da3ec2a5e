//! One call of the program: its arguments, its command, its exit code.

use std::ffi::OsString;
use std::panic::{set_hook, take_hook};
use std::process::ExitCode;

use clap::Parser;

use crate::commands::{
    align, backends, compare_backends, diagnose, embed, fetch, methods, negatives, report, run,
    split, stream, train, update,
};
use crate::files::work_place;
use crate::options::command_line::Command;
use crate::options::devices::Engine;
use crate::options::parse::{ParseError, parse, with_negative_numbers};
use crate::process::child;
use crate::process::failure::Failure;
use crate::process::group::{self, OwnFolder};
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
        .try_get_matches_from(arguments)
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
    let words: Vec<OsString> = arguments.into_iter().collect();
    let parsed = parse(words.clone()).and_then(|command| together(command, &words));
    let members = match parsed {
        Ok(members) => members,
        Err(error) => return without_command(error),
    };
    Ok(start().and_then(|()| run_members(members))?)
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

/// Commands of the members of this process that train one encoder together, with the folders of all but the first.
struct Members {
    first: Command,
    others: Vec<(Command, OwnFolder)>,
}

/// Returns the commands of the members of this process, which joins other processes before if the command runs in several.
fn together(command: Command, words: &[OsString]) -> Result<Members, ParseError> {
    let alone = |first| Members {
        first,
        others: Vec::new(),
    };
    let (engine, resumed) = match &command {
        Command::Run(options) => options.engine(),
        Command::Stream(options) => options.engine(),
        Command::Train(options) => options.engine(),
        Command::Update(options) => options.engine(),
        _ => return Ok(alone(command)),
    };
    let resumed = resumed.map(work_place::folders).unwrap_or_default();
    match engine {
        Engine::Threads(size) => {
            let member = |_| {
                let folder = OwnFolder::create(words, &resumed)?;
                Ok((parse(folder.words.clone())?, folder))
            };
            Ok(Members {
                others: (1..size).map(member).collect::<Result<_, ParseError>>()?,
                first: command,
            })
        }
        Engine::Mpi => match group::join(words, &resumed)? {
            None => Ok(alone(command)),
            Some(own) => parse(own).map(alone),
        },
    }
}

/// Runs the commands of all members and returns the exit code of the first one.
fn run_members(Members { first, others }: Members) -> Result<u8, Failure> {
    if others.is_empty() {
        return run_command(first);
    }
    let (others, _folders): (Vec<Command>, Vec<OwnFolder>) = others.into_iter().unzip();
    let commands = std::iter::once(first).chain(others);
    group::on_threads(commands.map(|command| move || run_command(command)))
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
        Command::Backends(options) => backends::show(&options),
        Command::CompareBackends(options) => compare_backends::compare(*options),
        Command::Diagnose(options) => return diagnose::diagnose(&options),
        Command::Embed(options) => embed::embed(*options),
        Command::Fetch(options) => fetch::fetch(&options),
        Command::Methods(options) => methods::show(&options),
        Command::Negatives(options) => negatives::advise(&options),
        Command::ProbeBackend { backend } => crate::backend::probe_here(&backend),
        Command::Report(options) => report::rebuild(&options),
        Command::Run(options) => run::run(*options),
        Command::Split(options) => split::split(&options),
        Command::Stream(options) => stream::stream(*options),
        Command::Train(options) => train::train(*options),
        Command::Update(options) => update::update(*options),
    }?;
    Ok(0)
}
