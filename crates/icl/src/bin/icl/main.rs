//! The program `icl`: compares ways to keep a contrastive encoder up to date.

#[cfg(not(any(feature = "flex", feature = "tch", feature = "wgpu", feature = "cuda")))]
compile_error!(
    "the program needs at least one backend: build it with one of the features `flex`, `tch`, \
     `wgpu` and `cuda`"
);

mod arguments;
mod backend;
mod diagnose;
mod failure;
mod matrix_file;
mod methods;
mod report;
mod run;
mod streams;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Some(Command::Diagnose(arguments)) => diagnose::diagnose(&arguments),
        Some(Command::Methods(arguments)) => methods::show(&arguments),
        Some(Command::Report(arguments)) => report::rebuild(&arguments),
        Some(Command::Run(options)) => run::run(*options),
        None => run::run(run::RunOptions::default()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            streams::tell(format_args!("error: {failure}"));
            failure.exit_code()
        }
    }
}
