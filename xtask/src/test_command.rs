//! The tests, on a backend.

use std::process::Command;

use clap::ValueEnum;

use crate::cargo;

/// A backend that tests can run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// The default: pure Rust on the CPU.
    Flex,
    /// LibTorch.
    Tch,
    /// WebGPU.
    Wgpu,
    /// Vulkan.
    Vulkan,
    /// NVIDIA GPUs.
    Cuda,
}

/// The packages whose tests compute, by a backend that a feature of theirs chooses.
const TESTED: [&str; 6] = [
    "icl-core",
    "icl-models",
    "icl-data",
    "icl-meta",
    "icl-rl",
    "icl",
];

/// The command that tests everything on the default backend, or what computes on another one. There
/// the program holds that backend alone, so that its tests run on it.
pub fn command(backend: Backend) -> Command {
    if backend == Backend::Flex {
        return cargo::command(["test", "--release", "--workspace"]);
    }
    let name = backend
        .to_possible_value()
        .map_or_else(String::new, |value| value.get_name().into());
    let mut command = cargo::command(["test", "--release", "--no-default-features"]);
    for package in TESTED {
        command.args(["--package", package]);
    }
    let features = ["icl/program", &format!("icl/{name}")]
        .map(str::to_owned)
        .into_iter()
        .chain(["icl-core", "icl-rl"].map(|package| format!("{package}/testing-{name}")));
    let features: Vec<String> = features.collect();
    command.arg("--features").arg(features.join(","));
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(backend: Backend) -> String {
        let command = command(backend);
        let words: Vec<_> = command
            .get_args()
            .map(|word| word.to_string_lossy())
            .collect();
        words.join(" ")
    }

    #[test]
    fn another_backend_is_a_feature_of_the_program_and_of_the_tests() {
        assert_eq!(line(Backend::Flex), "test --release --workspace");
        let tch = line(Backend::Tch);
        assert!(tch.starts_with("test --release --no-default-features --package icl-core "));
        assert!(
            tch.ends_with("--features icl/program,icl/tch,icl-core/testing-tch,icl-rl/testing-tch")
        );
    }
}
