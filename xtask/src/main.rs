//! Commands for contributors: `cargo xtask check`, `test`, `bench`, `fuzz`, `outside`, `results` and `lines`.

mod bench;
mod cargo;
mod check;
mod findings;
mod outside;
mod results;
mod test_command;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use bench::BenchOptions;
use check::LinesOptions;
use results::ResultsOptions;
use test_command::Backend;

/// Commands for a change in their order, with which the help ends.
const WHEN: &str = "For a change: cargo test --release -p CRATE, cargo xtask check, bash .ci/run. See CONTRIBUTING.md";

/// Commands for contributors.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", after_help = WHEN)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run all checks: dependency arrows, import circles, options, wording, links, format, lints, docs
    ///
    /// Every check is run, whatever the others found. The exit code is 1 if one failed.
    Check,
    /// Run all tests; on a backend other than flex, those that compute on a backend
    Test {
        /// Backend to run the tests on
        #[arg(long, value_enum, default_value_t = Backend::Flex)]
        backend: Backend,
        /// Further arguments for `cargo test`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Run a benchmark
    Bench(BenchOptions),
    /// Read generated inputs of a format, or of all, and check that its reader keeps its promise (fuzz/README.md)
    ///
    /// The exit code is 1 if one does not; the input lies under target/fuzz then.
    Fuzz {
        /// Formats, or `all`, and options: `--inputs N`, `--seed SEED`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        arguments: Vec<OsString>,
    },
    /// Check a user's crate with the compiler outside of the workspace: on flex, ndarray, wgpu, tch and cuda, with and
    /// without Burn's terminal interface
    Outside {
        /// Backends; all if there is none
        backends: Vec<String>,
    },
    /// Measure the figures of the pages of results again
    ///
    /// The figures and their runs are in docs/results/expected.csv. The exit code is 1 if a figure is not met.
    Results(ResultsOptions),
    /// Count the lines of source before tests, files and types of each crate, next to the goals for their sums
    Lines(LinesOptions),
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
        Command::Fuzz { arguments } => {
            let program = ["run", "--release", "--package", "icl-fuzz", "--"];
            cargo::exit_code(cargo::command(program).args(arguments))
        }
        Command::Outside { backends } => outside::run(&backends),
        Command::Results(options) => results::run(&options),
        Command::Lines(options) => check::lines(&options).map(|()| ExitCode::SUCCESS),
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
    fn without_a_command_all_of_them_are_listed() {
        let help = Arguments::try_parse_from(["xtask"]).map(drop).unwrap_err();
        let help = help.to_string();
        for command in Arguments::command().get_subcommands() {
            assert!(help.contains(command.get_name()), "{help}");
        }
        // The help may be wrapped.
        assert!(help.trim_end().ends_with("CONTRIBUTING.md"), "{help}");
    }

    #[test]
    fn arguments_are_passed_on() {
        let line = ["xtask", "test", "-p", "icl-core", "--", "--nocapture"];
        let Command::Test { backend, arguments } = Arguments::parse_from(line).command else {
            panic!("expected the command `test`");
        };
        assert_eq!(backend, Backend::Flex);
        assert_eq!(arguments, line[2..]);
    }
}
