//! Weights in files that PyTorch itself writes.

use std::fs;
use std::path::Path;
use std::process::Command;

use icl_models::{FileFault, WeightsError};

use crate::resnet_weights::{assert_loaded, case, encoder, error, with_classes};

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
    let fault = |name: &str| match error(&folder.path().join(name)) {
        WeightsError::File { fault, .. } => fault,
        other => panic!("{other}"),
    };
    let FileFault::Object { class } = fault("model.pth") else {
        panic!("it holds a module");
    };
    assert_eq!(class, "torchvision.models.resnet.ResNet");
    assert!(matches!(fault("script.pth"), FileFault::Object { .. }));
    let FileFault::NoStateDict { entry, .. } = fault("other.pth") else {
        panic!("it holds more than a state dict");
    };
    assert_eq!(entry.as_deref(), Some("epoch"));

    // Cut anywhere, a whole network is an error too.
    for name in ["zip.pth", "legacy.pth"] {
        let file = folder.path().join(name);
        let whole = fs::metadata(&file).unwrap().len();
        for len in [whole - 1, whole / 2, 30_000, 10_000, 100] {
            let handle = fs::OpenOptions::new().write(true).open(&file).unwrap();
            handle.set_len(len).unwrap();
            assert!(
                matches!(error(&file), WeightsError::File { .. }),
                "{name} {len}"
            );
        }
    }
}
