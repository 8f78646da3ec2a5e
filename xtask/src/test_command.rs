//! The command that runs the tests on a backend.

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

/// Packages whose tests compute on a backend that a cargo feature chooses.
const TESTED: [&str; 9] = [
    "icl-kernels",
    "icl-core",
    "icl-models",
    "icl-data",
    "icl-meta",
    "icl-train",
    "icl-rl",
    "icl-report",
    "icl-cli",
];

/// Packages with a feature `testing-NAME` for each backend.
const TEST_SUPPORT: [&str; 2] = ["icl-core", "icl-rl"];

/// Name of the variable that says how threads of LibTorch wait for one another. They wait in busy loops by
/// default, which slows down all other programs that tests run at the same time: with `passive`, one
/// test file took 105 s instead of more than 280.
const WAIT_POLICY: &str = "OMP_WAIT_POLICY";

/// Returns the command that runs all tests on the default backend, or those that compute on another
/// one. The program is then built with that backend alone, so that its tests run on it.
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
    let mut features = vec![format!("icl-cli/{name}")];
    features.extend(TEST_SUPPORT.map(|package| format!("{package}/testing-{name}")));
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
    fn another_backend_is_a_feature_of_the_program_and_of_the_test_support() {
        assert_eq!(line(Backend::Flex), "test --release --workspace");
        let tch = line(Backend::Tch);
        assert!(tch.starts_with("test --release --no-default-features --package icl-kernels "));
        assert!(tch.contains(" --package icl-train --package icl-rl "));
        assert!(tch.ends_with("--features icl-cli/tch,icl-core/testing-tch,icl-rl/testing-tch"));
        let policies = |backend| command(backend).get_envs().count();
        let of_libtorch = usize::from(std::env::var_os(WAIT_POLICY).is_none());
        assert_eq!(
            [policies(Backend::Vulkan), policies(Backend::Tch)],
            [0, of_libtorch]
        );
    }
}
