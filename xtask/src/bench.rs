//! The command `cargo xtask bench`: which bench targets run.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::cargo;

/// Benchmark of one or several bench targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Bench {
    /// All of them in turn
    All,
    /// Every backend next to PyTorch; `--features` names backends besides flex
    Backends,
    /// An epoch and a step on graphs
    Graphs,
    /// An epoch of a recommender with two towers next to PyTorch's; the argument is a file of interactions
    Pairs,
    /// Protocols of accuracies, the support vector machine next to scikit-learn's
    Protocols,
    /// Ways to choose a learning rate
    Rates,
    /// A training step on rows of a table next to PyTorch's, and the share of views in an epoch
    Tables,
    /// A training step on images and its operators next to PyTorch's, and views next to torchvision's
    Vision,
}

/// Bench targets: benchmark, package and name.
const TARGETS: [(Bench, &str, &str); 9] = [
    (Bench::Backends, "icl-cli", "backends"),
    (Bench::Graphs, "icl-cli", "graphs"),
    (Bench::Pairs, "icl-cli", "pairs"),
    (Bench::Protocols, "icl-eval", "protocols"),
    (Bench::Rates, "icl-cli", "rates"),
    (Bench::Tables, "icl-cli", "tables"),
    (Bench::Vision, "icl-cli", "vision"),
    (Bench::Vision, "icl-kernels", "image_operators"),
    (Bench::Vision, "icl-data", "image_views"),
];

/// Options of `cargo xtask bench`.
#[derive(Debug, Args)]
pub struct BenchOptions {
    /// Benchmark. Where it compares with Python, the variable PYTHON names an interpreter; without it, `python3` is tried
    #[arg(value_enum)]
    bench: Bench,
    /// Features of icl-cli for the benchmark `backends`, comma-separated
    #[arg(long)]
    features: Option<String>,
    /// Arguments for the benchmark
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

impl BenchOptions {
    /// Runs the targets until one fails.
    ///
    /// # Errors
    /// If cargo cannot be started.
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        for line in self.command_lines() {
            let code = cargo::exit_code(cargo::command(["bench"]).args(line))?;
            if code != ExitCode::SUCCESS {
                return Ok(code);
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Returns the arguments of `cargo bench` for each target.
    fn command_lines(&self) -> Vec<Vec<OsString>> {
        let is_asked = |bench| self.bench == bench || self.bench == Bench::All;
        let targets = TARGETS.into_iter().filter(|(bench, ..)| is_asked(*bench));
        let line = |(bench, package, name)| {
            let target = ["--package", package, "--bench", name].map(OsString::from);
            let features = self.features.as_ref().filter(|_| bench == Bench::Backends);
            let features = features.map(|it| [OsString::from("--features"), it.into()]);
            let features = features.into_iter().flatten();
            let line = target.into_iter().chain(features).chain(["--".into()]);
            line.chain(self.arguments.iter().cloned()).collect()
        };
        targets.map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: BenchOptions,
    }

    #[test]
    fn features_stand_before_the_arguments_of_the_benchmark() {
        let backends = "--package icl-cli --bench backends";
        let vision = "--package icl-cli --bench vision --\n--package icl-kernels --bench image_operators --\n\
                      --package icl-data --bench image_views --";
        let lines = |line: &str| {
            let words = std::iter::once("bench").chain(line.split(' '));
            let lines = Line::parse_from(words).options.command_lines();
            let joined = lines.into_iter().map(|line| line.join(" ".as_ref()));
            let lines: Vec<_> = joined.map(|it| it.into_string().unwrap()).collect();
            lines.join("\n")
        };
        for (line, expected) in [
            ("backends", format!("{backends} --")),
            ("backends --quick", format!("{backends} -- --quick")),
            (
                "backends --features tch -- --only infonce",
                format!("{backends} --features tch -- --only infonce"),
            ),
            (
                "backends --features=tch,wgpu --backends tch",
                format!("{backends} --features tch,wgpu -- --backends tch"),
            ),
            ("vision", vision.to_owned()),
        ] {
            assert_eq!(lines(line), expected, "{line}");
        }
        let all = lines("all --features tch");
        assert!(
            all.starts_with(&format!("{backends} --features tch --\n")),
            "{all}"
        );
        assert_eq!((all.matches("tch").count(), all.lines().count()), (1, 9));
    }
}
