//! The example runs and learns with a small budget.

#[path = "../../learned.rs"]
mod learned;

use std::path::Path;

const PROGRAM: &str = env!("CARGO_BIN_EXE_images");

/// A handful of steps need not bring the update below θ₀: after eight, the best encoder is still θ₀.
#[test]
fn it_learns() {
    let learned = learned::learned(PROGRAM, &["--epochs", "8", "--limit", "64"]);
    let text = learned.expect("the digits come with the library").0;
    assert!(
        text.starts_with("MNIST-1v7: 32 old images, 32 new ones"),
        "{text}"
    );
}

#[test]
fn it_reads_a_folder() {
    let archive = learned::data_dir().join("photos/ants-bees-256.tar.gz");
    if !archive.exists() {
        eprintln!("SKIPPED: {} is not there", archive.display());
        return;
    }
    let unpacked = tempfile::tempdir().expect("a folder");
    icl::data::unpack_tar(&archive, unpacked.path()).expect("an archive");
    let folder = unpacked.path().join("ants-bees/train");
    let folder = folder.to_str().expect("UTF-8");
    let small = [
        "--epochs",
        "3",
        "--limit",
        "64",
        "--size",
        "32",
        "--learning-rate",
        "0.001",
    ];
    let arguments = [&[folder], &small[..]].concat();
    let text = learned::learned(PROGRAM, &arguments)
        .expect("the photographs are there")
        .0;
    assert!(
        text.starts_with("train: 32 old images, 32 new ones"),
        "{text}"
    );
}

#[test]
fn absent_data_are_named() {
    let output = learned::run(PROGRAM, &["no/such/place"], Path::new("empty"));
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.starts_with("no/such/place: "), "{message}");
}
