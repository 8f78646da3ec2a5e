//! The commands of whoever works on the project: `cargo xtask check`, `test` and `bench`.

mod cargo;
mod check;
mod test_command;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use test_command::Backend;

/// The commands of whoever works on the project.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Everything that is checked beside the tests: arrows, house rules, links, format, lints, docs
    ///
    /// All checks are run before the verdict. Exit code 1 if one failed.
    Check,
    /// All tests: `cargo test --release --workspace`; on another backend those that compute
    Test {
        /// The backend to run them on
        #[arg(long, value_enum, default_value_t = Backend::Flex)]
        backend: Backend,
        /// Further arguments of `cargo test`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// A benchmark
    #[command(subcommand)]
    Bench(Bench),
}

#[derive(Subcommand)]
enum Bench {
    /// An epoch and a step on graphs: the bench target `graphs` of the package `icl`
    Graphs {
        /// Arguments of the benchmark
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Ways to choose a learning rate: the bench target `rates` of the package `icl`
    Rates {
        /// Arguments of the benchmark
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Images: a training step and its operators beside PyTorch's, views beside torchvision's
    Vision,
}

/// The bench targets of images, with their packages.
const VISION: [(&str, &str); 3] = [
    ("icl", "vision"),
    ("icl-models", "image_operators"),
    ("icl-data", "image_views"),
];

impl Bench {
    fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Graphs { arguments } => bench("icl", "graphs", arguments),
            Self::Rates { arguments } => bench("icl", "rates", arguments),
            Self::Vision => {
                for (package, name) in VISION {
                    let code = bench(package, name, Vec::new())?;
                    if code != ExitCode::SUCCESS {
                        return Ok(code);
                    }
                }
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

fn bench(package: &str, name: &str, arguments: Vec<OsString>) -> anyhow::Result<ExitCode> {
    let target = ["bench", "--package", package, "--bench", name, "--"];
    cargo::exit_code(cargo::command(target).args(arguments))
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Check => check::run(),
        Command::Test { backend, arguments } => {
            cargo::exit_code(test_command::command(backend).args(arguments))
        }
        Command::Bench(bench) => bench.run(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn arguments_are_passed_on() {
        let line = ["xtask", "test", "-p", "icl-core", "--", "--nocapture"];
        let Command::Test { backend, arguments } = Arguments::parse_from(line).command else {
            panic!("expected the command `test`");
        };
        assert_eq!(backend, Backend::Flex);
        assert_eq!(arguments, line[2..]);
        let line = ["xtask", "bench", "graphs", "--epochs", "3"];
        let Command::Bench(Bench::Graphs { arguments }) = Arguments::parse_from(line).command
        else {
            panic!("expected the command `bench graphs`");
        };
        assert_eq!(arguments, line[3..]);
    }
}
