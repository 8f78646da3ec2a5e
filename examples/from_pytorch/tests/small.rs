//! The example repeats itself, and PyTorch reads what it writes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use burn::backend::Flex;
use burn::tensor::{Int, Tensor};
use icl::core::{Mode, Seed};
use icl::models::{ResNet, ResNetConfig};

/// Runs the program with a small budget.
fn run(arguments: &[&str]) -> String {
    let small = ["--epochs", "2", "--limit", "48"];
    let output = Command::new(env!("CARGO_BIN_EXE_from_pytorch"))
        .args(small)
        .args(arguments)
        .output()
        .expect("the program starts");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Loads a file of weights, and computes the logits of the images of pytorch.py.
fn logits(weights: &Path) -> Vec<f32> {
    let device = Default::default();
    let config = ResNetConfig::new(3).with_n_classes(Some(1000));
    let resnet: ResNet<Flex> = config.init(Seed::new(7), &device);
    let resnet = resnet.with_torchvision_weights(weights).expect("weights");
    let at: Tensor<Flex, 1, Int> = Tensor::arange(0..2 * 3 * 32 * 32, &device);
    let images = (at * 37).remainder_scalar(101).float() / 64.0 - 0.75;
    let logits = resnet.logits(images.reshape([2, 3, 32, 32]), Mode::Evaluation);
    logits.into_data().to_vec().expect("numbers")
}

/// Returns paths of two files in a folder.
fn files(folder: &Path) -> [PathBuf; 2] {
    ["before.safetensors", "after.safetensors"].map(|name| folder.join(name))
}

#[test]
fn equal_seeds_give_equal_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let [one, other] = files(folder.path());
    let text = run(&["--out", &one.to_string_lossy()]);
    let [first, last] = ["θ₀", "updated"].map(|name| {
        let line = text.lines().find(|line| line.starts_with(name));
        let cells: Vec<f64> = line
            .expect("an encoder")
            .split_whitespace()
            .flat_map(str::parse)
            .collect();
        <[f64; 4]>::try_from(cells).expect("two risks and their errors")
    });
    assert!(first.iter().chain(&last).all(|it| *it > 0.0), "{text}");
    let random = folder.path().join("random.safetensors");
    assert_ne!(logits(&random), logits(&one));
    // The file of random weights is one like any other.
    let random = random.to_string_lossy();
    run(&["--weights", &random, "--out", &other.to_string_lossy()]);
    assert_eq!(
        fs::read(&one).expect("weights"),
        fs::read(&other).expect("weights")
    );
}

/// Runs a Python: `PYTHON`, else `python3`.
fn python(arguments: &[&str]) -> Option<Output> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    Command::new(python).args(arguments).output().ok()
}

#[test]
fn pytorch_reads_what_was_written() {
    let imports = "import torch, torchvision, safetensors.torch";
    if !python(&["-c", imports]).is_some_and(|output| output.status.success()) {
        eprintln!("SKIPPED: Python has no torch, torchvision and safetensors");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let [before, after] = files(folder.path());
    let [before_path, after_path] = [&before, &after].map(|path| path.to_string_lossy());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pytorch.py");
    let pytorch = |arguments: &[&str]| {
        let output = python(&[&[script], arguments].concat()).expect("python3 starts");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{message}");
        eprintln!("{message}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    pytorch(&["write", &before_path]);
    run(&["--weights", &before_path, "--out", &after_path]);
    let expected = pytorch(&["read", &after_path, &before_path]);
    let expected: Vec<f32> = expected.split_whitespace().flat_map(str::parse).collect();
    let found = logits(&after);
    assert_eq!((found.len(), expected.len()), (2000, 2000));
    let largest = expected.iter().fold(0.0_f32, |a, b| a.max(b.abs()));
    for (found, expected) in found.iter().zip(&expected) {
        assert!(
            (found - expected).abs() < 1e-4 * largest,
            "{found} {expected}"
        );
    }
}
