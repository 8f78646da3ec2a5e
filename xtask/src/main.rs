//! Commands for contributors: `cargo xtask check`, `test`, `bench`, `fuzz` and `results`.

mod cargo;
mod check;
mod findings;
mod results;
mod test_command;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use results::ResultsOptions;
use test_command::Backend;

/// Commands for contributors.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
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
    #[command(subcommand)]
    Bench(Bench),
    /// Read generated inputs of a format, or of all, and check that its reader keeps its promise (fuzz/README.md)
    ///
    /// The exit code is 1 if one does not; the input lies under target/fuzz then.
    Fuzz {
        /// Formats, or `all`, and options: `--inputs N`, `--seed SEED`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        arguments: Vec<OsString>,
    },
    /// Check the figures of the pages of results, or measure them again
    ///
    /// The figures and the runs that they are of are in docs/results/expected.csv. Every run has a folder under
    /// target/results: a complete one is not repeated as long as its command and crates/ stay the same, and one
    /// that was interrupted continues. The exit code is 1 if a figure is not met.
    Results(ResultsOptions),
}

#[derive(Subcommand)]
enum Bench {
    /// Run all benchmarks in turn: backends, graphs, pairs, protocols, rates, tables, vision
    All {
        /// Backends of the benchmark `backends` besides flex, as comma-separated features of icl-cli
        #[arg(long)]
        features: Option<String>,
    },
    /// Compare every backend with PyTorch (bench target `backends` of icl-cli)
    Backends {
        /// Backends besides flex, as comma-separated features of icl-cli
        #[arg(long)]
        features: Option<String>,
        /// Arguments for the benchmark
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Measure an epoch and a step on graphs (bench target `graphs` of icl-cli)
    Graphs {
        /// Arguments for the benchmark
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Compare an epoch of a recommender with two towers with PyTorch (bench target `pairs` of icl-cli)
    ///
    /// The environment variable PYTHON names a Python with PyTorch; without it, `python3` is tried.
    Pairs {
        /// File of interactions; without it the benchmark says that it is skipped
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Time the protocols of accuracies, the support vector machine beside scikit-learn's (bench target `protocols` of icl-eval)
    ///
    /// The environment variable PYTHON names a Python with scikit-learn; without it, `python3` is tried.
    Protocols,
    /// Compare ways to choose a learning rate (bench target `rates` of icl-cli)
    Rates {
        /// Arguments for the benchmark
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Compare a training step on rows of a table with PyTorch (bench target `tables` of icl-cli)
    ///
    /// Also measures the share of views in an epoch. The environment variable PYTHON names a Python with PyTorch;
    /// without it, `python3` is tried.
    Tables,
    /// Compare a training step on images and its operators with PyTorch, and views with torchvision
    Vision,
}

/// A bench target.
#[derive(Debug, Default, PartialEq)]
struct BenchTarget {
    package: &'static str,
    name: &'static str,
    features: Option<String>,
    arguments: Vec<OsString>,
}

/// Bench targets of images, with their packages.
const VISION: [(&str, &str); 3] = [
    ("icl-cli", "vision"),
    ("icl-kernels", "image_operators"),
    ("icl-data", "image_views"),
];

impl Bench {
    /// Returns the bench targets in the order in which they run.
    fn targets(self) -> Vec<BenchTarget> {
        match self {
            Self::All { features } => {
                let arguments = Vec::new;
                let all = [
                    Self::Backends {
                        features,
                        arguments: arguments(),
                    },
                    Self::Graphs {
                        arguments: arguments(),
                    },
                    Self::Pairs {
                        arguments: arguments(),
                    },
                    Self::Protocols,
                    Self::Rates {
                        arguments: arguments(),
                    },
                    Self::Tables,
                    Self::Vision,
                ];
                all.into_iter().flat_map(Self::targets).collect()
            }
            Self::Backends {
                features,
                arguments,
            } => vec![BenchTarget {
                features,
                arguments,
                ..BenchTarget::new("icl-cli", "backends")
            }],
            Self::Graphs { arguments } => vec![BenchTarget {
                arguments,
                ..BenchTarget::new("icl-cli", "graphs")
            }],
            Self::Pairs { arguments } => vec![BenchTarget {
                arguments,
                ..BenchTarget::new("icl-cli", "pairs")
            }],
            Self::Protocols => vec![BenchTarget::new("icl-eval", "protocols")],
            Self::Rates { arguments } => vec![BenchTarget {
                arguments,
                ..BenchTarget::new("icl-cli", "rates")
            }],
            Self::Tables => vec![BenchTarget::new("icl-cli", "tables")],
            Self::Vision => VISION
                .map(|(package, name)| BenchTarget::new(package, name))
                .into(),
        }
    }

    /// Runs the targets until one fails.
    fn run(self) -> anyhow::Result<ExitCode> {
        for target in self.targets() {
            let code = target.run()?;
            if code != ExitCode::SUCCESS {
                return Ok(code);
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl BenchTarget {
    fn new(package: &'static str, name: &'static str) -> Self {
        Self {
            package,
            name,
            ..Self::default()
        }
    }

    fn run(self) -> anyhow::Result<ExitCode> {
        let target = ["bench", "--package", self.package, "--bench", self.name];
        let mut command = cargo::command(target);
        if let Some(features) = self.features {
            command.args(["--features", &features]);
        }
        cargo::exit_code(command.arg("--").args(self.arguments))
    }
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
        Command::Results(options) => results::run(&options),
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

    #[test]
    fn features_stand_before_the_arguments_of_the_benchmark() {
        let bench = |line: &[&str]| {
            let whole = ["xtask", "bench"].iter().chain(line);
            let Command::Bench(bench) = Arguments::parse_from(whole).command else {
                panic!("expected the command `bench`");
            };
            bench.targets()
        };
        let target = |features: Option<&str>, arguments: &[&str]| BenchTarget {
            features: features.map(str::to_owned),
            arguments: arguments.iter().map(OsString::from).collect(),
            ..BenchTarget::new("icl-cli", "backends")
        };
        for (line, expected) in [
            (&["backends"][..], target(None, &[])),
            (&["backends", "--quick"], target(None, &["--quick"])),
            (
                &["backends", "--features", "tch", "--", "--only", "infonce"],
                target(Some("tch"), &["--only", "infonce"]),
            ),
            (
                &["backends", "--features=tch,wgpu", "--backends", "tch"],
                target(Some("tch,wgpu"), &["--backends", "tch"]),
            ),
        ] {
            assert_eq!(bench(line), [expected], "{line:?}");
        }
        let all = bench(&["all", "--features", "tch"]);
        assert_eq!(all[0], target(Some("tch"), &[]));
        assert!(all[1..].iter().all(|target| target.features.is_none()));
        let names: Vec<&str> = all.iter().map(|target| target.name).collect();
        let vision = VISION.map(|(_, name)| name);
        assert_eq!(
            names[..6],
            [
                "backends",
                "graphs",
                "pairs",
                "protocols",
                "rates",
                "tables"
            ]
        );
        assert_eq!(names[6..], vision);
    }
}
