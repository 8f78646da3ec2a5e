//! The program `icl`: compares ways to keep a contrastive encoder up to date.

#[cfg(not(any(
    feature = "flex",
    feature = "tch",
    feature = "wgpu",
    feature = "vulkan",
    feature = "cuda"
)))]
compile_error!(
    "the program needs at least one backend: build it with one of the features `flex`, `tch`, \
     `wgpu`, `vulkan` and `cuda`"
);

mod backend;
mod commands;
mod domain;
mod files;
mod options;
mod process;

use std::process::ExitCode;

use clap::Parser;

use commands::{
    backends, compare_backends, diagnose, embed, fetch, methods, report, reproduce, run, train,
    update,
};
use options::command_line::{Arguments, Command};
use process::failure::Failure;
use process::terminal::tell;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Some(Command::Backends(arguments)) => backends::show(&arguments),
        Some(Command::CompareBackends(options)) => compare_backends::compare(*options),
        Some(Command::Diagnose(arguments)) => diagnose::diagnose(&arguments),
        Some(Command::Embed(arguments)) => embed::embed(&arguments),
        Some(Command::Fetch(arguments)) => fetch::fetch(&arguments),
        Some(Command::Methods(arguments)) => methods::show(&arguments),
        Some(Command::ProbeBackend { backend }) => backend::probe_here(&backend),
        Some(Command::Report(arguments)) => report::rebuild(&arguments),
        Some(Command::Reproduce(arguments)) => reproduce::reproduce(*arguments),
        Some(Command::Run(options)) => run::run(*options),
        Some(Command::Train(options)) => train::train(*options),
        Some(Command::Update(options)) => update::update(*options),
        None => run::run(run::RunOptions::default()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let kind = match failure {
                Failure::Interrupted(_) => "interrupted",
                _ => "error",
            };
            tell(format_args!("{kind}: {failure}"));
            failure.exit_code()
        }
    }
}
