//! Weights in files that PyTorch itself writes.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::resnet_rejected::{error, is_of_file};
use crate::resnet_weights::{assert_loaded, case, encoder, with_classes};

/// Needs a Python with torchvision: `PYTHON`, else `python3`.
#[test]
fn what_pytorch_writes_is_read() {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_torchvision = Command::new(&python)
        .args(["-c", "import torchvision"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !has_torchvision {
        eprintln!("skipped: {python} has no torchvision");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/reference/resnet.py");
    let status = Command::new(&python)
        .arg(script)
        .arg("--large")
        .arg(folder.path())
        .status();
    assert!(status.unwrap().success());

    let case = case();
    for (name, tolerance) in [
        ("zip.pth", 0.0),
        ("legacy.pth", 0.0),
        ("protocol_4.pth", 0.0),
        ("double.pth", 0.0),
        ("channels_last.pth", 0.0),
        ("checkpoint.pth", 0.0),
        ("half.pth", 1e-3),
    ] {
        let file = folder.path().join(name);
        let loaded = encoder(with_classes()).with_torchvision_weights(&file);
        assert_loaded(
            &loaded.unwrap_or_else(|error| panic!("{error}")),
            &case,
            tolerance,
        );
    }
    let found = |name: &str| error(&folder.path().join(name)).found().to_owned();
    let module = "an object of class \"torchvision.models.resnet.ResNet\"";
    assert_eq!(found("model.pth"), module);
    assert!(found("script.pth").starts_with("an object of class \""));
    // It holds more than a state dict.
    let other = found("other.pth");
    assert!(
        other.starts_with("entry \"epoch\" that is not a tensor, among "),
        "{other}"
    );

    // Cut anywhere, a whole network is an error too.
    for name in ["zip.pth", "legacy.pth"] {
        let file = folder.path().join(name);
        let whole = fs::metadata(&file).unwrap().len();
        for len in [whole - 1, whole / 2, 30_000, 10_000, 100] {
            let handle = fs::OpenOptions::new().write(true).open(&file).unwrap();
            handle.set_len(len).unwrap();
            assert!(is_of_file(&error(&file)), "{name} {len}");
        }
    }
}
