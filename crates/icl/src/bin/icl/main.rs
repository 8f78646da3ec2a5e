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

mod arguments;
mod backend;
mod backends;
mod checksum;
mod compare_backends;
mod data;
mod diagnose;
mod domain;
mod embed;
mod embeddings;
mod encoder_file;
mod encoder_work;
mod failure;
mod fetch;
mod image_options;
mod interrupt;
mod matrix_file;
mod methods;
mod option_values;
mod report;
mod reproduce;
mod run;
mod streams;
mod tensor_file;
mod train;
mod training_options;
mod update;
mod whole_file;
mod work_folder;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};

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
                failure::Failure::Interrupted(_) => "interrupted",
                _ => "error",
            };
            streams::tell(format_args!("{kind}: {failure}"));
            failure.exit_code()
        }
    }
}
