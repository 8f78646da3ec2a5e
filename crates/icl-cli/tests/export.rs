//! `icl export`: other programs compute the embeddings that `icl embed` writes, and what it must reject.

use std::fs;
use std::path::Path;
use std::process::Command;

use burn::backend::Flex;
use burn::tensor::{Distribution, Tensor};
use icl_core::{Batches, Encoder, Seed};
use icl_data::ImageViewsConfig;
use icl_models::{ResNet, ResNetConfig, Stem, StoredEncoder};
use safetensors::SafeTensors;
use tempfile::tempdir;

use crate::support::digits::Digits;
use crate::support::toys::OLD;
use crate::support::{icl, names, split};

/// Largest difference to the embeddings, as a share of their largest value.
const TOLERANCE: f64 = 1e-5;

/// The Python with this module, `PYTHON`, else `python3`, if there is one.
fn python_with(module: &str) -> Option<String> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let imported = Command::new(&python)
        .args(["-c", &format!("import {module}")])
        .output();
    let has_module = imported.is_ok_and(|output| output.status.success());
    if !has_module {
        eprintln!("skipped: {python} has no {module}");
    }
    has_module.then_some(python)
}

/// Exports the encoder `from`, and compares what another program computes from the file with the embeddings of `data`.
#[track_caller]
fn assert_same(at: &Path, from: &str, format: &str, data: &str) {
    let export = format!("export --from {from} --format {format} --out exported --force");
    icl(at, &split(&export)).succeeded();
    let missing = match data.ends_with(".csv") {
        true => " --missing mean",
        false => "",
    };
    let embed = format!("embed --from {from} --data {data}{missing} --out e.npy --force");
    icl(at, &split(&embed)).succeeded();
    let (program, module) = match format {
        "safetensors" => ("numpy", "numpy"),
        "onnx" => ("onnx", "onnxruntime"),
        other => (other, "torchvision"),
    };
    let Some(python) = python_with(module) else {
        return;
    };
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../scripts/reference/export.py"
    );
    let output = Command::new(python)
        .args([script, program, "exported", data, "e.npy"])
        .current_dir(at)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let printed = String::from_utf8(output.stdout).unwrap();
    let numbers = split(&printed);
    let [distance, largest] = [0, 1].map(|at: usize| numbers[at].parse::<f64>().unwrap());
    eprintln!("{from} as {format}: {distance:e} of {largest}");
    assert!(
        largest > 0.1 && distance <= TOLERANCE * largest,
        "{printed}"
    );
}

/// A table of all kinds of columns, one of them with numbers that single precision does not tell apart.
fn write_table(at: &Path) {
    let mut text = "when,amount,colour,count\n".to_owned();
    for row in 0..60_u32 {
        let amount = match row % 11 {
            3 => String::new(),
            rest => format!("{}", f64::from(rest * row % 17) - 2.5),
        };
        let colour = ["red", "green", "blue"][(row * row % 7 % 3) as usize];
        let when = 1_700_000_000.25 + f64::from(row * 13 % 60) / 4.0;
        text += &format!("{when},{amount},{colour},{}\n", row * row % 23);
    }
    fs::write(at.join("t.csv"), text).unwrap();
}

#[test]
fn a_perceptron_of_tables_is_the_same_elsewhere() {
    let at = tempdir().unwrap();
    let at = at.path();
    write_table(at);
    let train = "train --data t.csv --missing mean --width 16 --projection 4 --epochs 2 --out t";
    icl(at, &split(train)).succeeded();
    assert_same(at, "t/encoder.safetensors", "onnx", "t.csv");
    assert_same(at, "t/encoder.safetensors", "safetensors", "t.csv");
    let bytes = fs::read(at.join("exported")).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(
        file.tensor("layers.1.linear.weight").unwrap().shape(),
        [16, 16]
    );
    assert_eq!(file.tensor("mean").unwrap().shape(), [7]);
    // No head, which embeddings do not pass.
    assert_eq!(file.names().len(), 3 + 3 * 6);
    let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
    let metadata = header.metadata().as_ref().unwrap();
    assert_eq!(
        metadata["features"],
        r#"["when","amount","amount is missing","colour=blue","colour=green","colour=red","count"]"#
    );
    assert_eq!((&*metadata["kind"], &*metadata["data"]), ("mlp", "t"));
}

#[test]
fn encoders_of_graphs_are_the_same_elsewhere() {
    let at = tempdir().unwrap();
    OLD.write(at.path(), "OLD");
    for options in [
        "--encoder gcn",
        "--encoder gin",
        "--encoder gcn --noise hidden",
    ] {
        let train = format!("train --data OLD --width 6 --epochs 2 {options} --out g --force");
        icl(at.path(), &split(&train)).succeeded();
        assert_same(at.path(), "g/encoder.safetensors", "safetensors", "OLD");
    }
}

#[test]
fn a_perceptron_of_images_is_the_same_elsewhere() {
    let at = tempdir().unwrap();
    let digits = Digits {
        n: 40,
        side: 6,
        classes: [1, 7],
    };
    digits.write(at.path(), "D");
    let train = "train --data D --encoder mlp --width 8 --epochs 2 --out d";
    icl(at.path(), &split(train)).succeeded();
    assert_same(at.path(), "d/encoder.safetensors", "onnx", "D");
    assert_same(at.path(), "d/encoder.safetensors", "safetensors", "D");
}

#[test]
fn a_convnet_is_the_same_elsewhere() {
    let at = tempdir().unwrap();
    let digits = Digits {
        n: 40,
        side: 11,
        classes: [1, 7],
    };
    digits.write(at.path(), "D");
    let train = "train --data D --encoder convnet --width 3 --epochs 2 --out d";
    icl(at.path(), &split(train)).succeeded();
    assert_same(at.path(), "d/encoder.safetensors", "onnx", "D");
    assert_same(at.path(), "d/encoder.safetensors", "safetensors", "D");
}

/// Writes a ResNet-18 with random weights, and statistics of random images.
fn write_resnet(path: &Path, stem: Stem) {
    let config = ResNetConfig::new(1)
        .with_stem(stem)
        .with_projection(Some(4));
    let device = Default::default();
    let encoder: ResNet<Flex> = config.init(Seed::new(3), &device);
    let images = Tensor::random([8, 1, 16, 16], Distribution::Normal(0.0, 1.0), &device);
    let batches = Batches::new(1, |_| Ok(images.clone()));
    let encoder = encoder.recalibrated(&batches).unwrap();
    let views = ImageViewsConfig::new(16);
    let metadata = [
        ("config", serde_json::to_string(&config).unwrap()),
        ("views", serde_json::to_string(&views).unwrap()),
    ];
    let file = StoredEncoder::new(&encoder, "resnet-18", "D", &metadata).unwrap();
    file.write(path).unwrap();
}

#[test]
fn a_resnet_is_the_same_elsewhere() {
    let at = tempdir().unwrap();
    let digits = Digits {
        n: 6,
        side: 16,
        classes: [1, 7],
    };
    digits.write(at.path(), "D");
    for (stem, note) in [
        (
            Stem::Small,
            "conv1 = Conv2d(1, 64, 3, 1, 1, bias=False) and maxpool = Identity()",
        ),
        (Stem::Standard, "conv1 = Conv2d(1, 64, 7, 2, 3, bias=False)"),
    ] {
        write_resnet(&at.path().join("r.safetensors"), stem);
        assert_same(at.path(), "r.safetensors", "onnx", "D");
        assert_same(at.path(), "r.safetensors", "torchvision", "D");
        let line = "export --from r.safetensors --format torchvision --out exported --force";
        let printed = icl(at.path(), &split(line)).succeeded().stdout;
        let expected = "resnet-18 written to exported: for torchvision's resnet18 without fc, with";
        assert_eq!(printed, format!("{expected} {note}\n"));
        // The program itself begins with these weights.
        let encoder = ResNetConfig::new(1)
            .with_stem(stem)
            .init::<Flex>(Seed::new(0), &Default::default());
        let loaded = encoder.with_torchvision_weights(&at.path().join("exported"));
        loaded.unwrap();
    }
}

#[test]
fn other_formats_and_kinds_are_rejected() {
    let at = tempdir().unwrap();
    OLD.write(at.path(), "OLD");
    fs::write(at.path().join("p.csv"), "a,b\nx y,z\ny x,z y\nx,z y\nz,x\n").unwrap();
    let train = "train --data OLD --width 4 --epochs 1 --out g";
    icl(at.path(), &split(train)).succeeded();
    let train = "train --data p.csv --texts a,b --width 4 --epochs 1 --out w";
    icl(at.path(), &split(train)).succeeded();
    let before = names(at.path());
    for (of, format, message) in [
        (
            "g",
            "onnx",
            "found an encoder of kind \"gcn\", which has no format onnx, expected the format safetensors",
        ),
        (
            "g",
            "torchvision",
            "which has no format torchvision, expected the format safetensors",
        ),
        (
            "w",
            "onnx",
            "found an encoder of kind \"word-tower\", expected one that can be exported: resnet-18, convnet, mlp, \
             image-mlp, gcn, gin, gcn-hidden, gin-hidden",
        ),
    ] {
        let line = format!("export --from {of}/encoder.safetensors --format {format} --out x");
        icl(at.path(), &split(&line)).rejected(message);
    }
    let file = "g/encoder.safetensors";
    let line = format!("export --from {file} --format safetensors --out {file} --force");
    icl(at.path(), &split(&line)).rejected("which is the input --from");
    assert_eq!(names(at.path()), before);
}
