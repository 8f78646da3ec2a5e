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

/// How threads of LibTorch wait for one another. By themselves in busy loops, in which the programs that
/// tests run side by side wait for the loops of the others: one test file took 105 s instead of more
/// than 280.
const WAIT_POLICY: &str = "OMP_WAIT_POLICY";

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
    if backend == Backend::Tch && std::env::var_os(WAIT_POLICY).is_none() {
        command.env(WAIT_POLICY, "passive");
    }
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
        let policies = |backend| command(backend).get_envs().count();
        let of_libtorch = usize::from(std::env::var_os(WAIT_POLICY).is_none());
        assert_eq!(
            [policies(Backend::Vulkan), policies(Backend::Tch)],
            [0, of_libtorch]
        );
    }
}
