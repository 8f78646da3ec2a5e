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
    /// All benchmarks, one after the other: backends, graphs, rates, vision
    All {
        /// Features of the package `icl` for the first: the backends beside `flex`, parted by commas
        #[arg(long)]
        features: Option<String>,
    },
    /// Every backend beside PyTorch: the bench target `backends` of the package `icl`
    Backends {
        /// Features of the package `icl`: the backends beside `flex`, parted by commas
        #[arg(long)]
        features: Option<String>,
        /// Arguments of the benchmark
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
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

/// A bench target.
#[derive(Debug, Default, PartialEq)]
struct Target {
    package: &'static str,
    name: &'static str,
    features: Option<String>,
    arguments: Vec<OsString>,
}

/// The bench targets of images, with their packages.
const VISION: [(&str, &str); 3] = [
    ("icl", "vision"),
    ("icl-models", "image_operators"),
    ("icl-data", "image_views"),
];

impl Bench {
    /// What is run, in this order.
    fn targets(self) -> Vec<Target> {
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
                    Self::Rates {
                        arguments: arguments(),
                    },
                    Self::Vision,
                ];
                all.into_iter().flat_map(Self::targets).collect()
            }
            Self::Backends {
                features,
                arguments,
            } => vec![Target {
                features,
                arguments,
                ..Target::new("icl", "backends")
            }],
            Self::Graphs { arguments } => vec![Target {
                arguments,
                ..Target::new("icl", "graphs")
            }],
            Self::Rates { arguments } => vec![Target {
                arguments,
                ..Target::new("icl", "rates")
            }],
            Self::Vision => VISION
                .map(|(package, name)| Target::new(package, name))
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

impl Target {
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
        let target = |features: Option<&str>, arguments: &[&str]| Target {
            features: features.map(str::to_owned),
            arguments: arguments.iter().map(OsString::from).collect(),
            ..Target::new("icl", "backends")
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
        assert_eq!(names[..3], ["backends", "graphs", "rates"]);
        assert_eq!(names[3..], vision);
    }
}
