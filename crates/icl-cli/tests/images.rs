//! The commands on images: the same as on graphs, by the same trainer.

use std::fs;
use std::path::Path;

use crate::support::digits::Digits;
use crate::support::{Ran, command, icl, names, number, record, records, split, text};
use serde_json::Value;
use tempfile::{TempDir, tempdir};

/// Few and small images; the standard stem leaves little of them to compute.
const OPTIONS: &str =
    "--encoder resnet18 --stem standard --batch-size 12 --evaluate-every 2 --average-decay 0.5";

fn with_digits() -> TempDir {
    let at = tempdir().unwrap();
    let digits = Digits {
        n: 24,
        side: 16,
        classes: [1, 7],
    };
    digits.write(at.path(), "numerals");
    at
}

#[track_caller]
fn ran(at: &Path, line: &str) -> Ran {
    icl(at, &split(line)).succeeded()
}

/// The values of a `.npy` file of f32, and its header.
fn npy(path: &Path) -> (String, Vec<f32>) {
    let bytes = fs::read(path).unwrap();
    let n_header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let (header, values) = bytes[10..].split_at(n_header);
    let (values, rest) = values.as_chunks::<4>();
    assert!(rest.is_empty());
    let header = String::from_utf8(header.to_vec()).unwrap();
    (
        header,
        values.iter().map(|b| f32::from_le_bytes(*b)).collect(),
    )
}

#[test]
fn a_run_compares_methods() {
    let at = with_digits();
    let line = format!(
        "run --data numerals --method retraining --method icl --method icl-corrected --epochs 3 \
         --learning-rate 0.001 --stop never --seed 0 --protocol linear,knn --out out {OPTIONS}"
    );
    let shown = ran(at.path(), &line);
    assert!(shown.stderr.contains("10 old images"), "{}", shown.stderr);
    let of_run = records(&at.path().join("out"));
    let of_run: Vec<&Value> = of_run.iter().collect();
    let methods: Vec<&str> = of_run.iter().map(|r| text(r, "method")).collect();
    assert_eq!(methods, ["retraining", "icl-corrected", "icl"]);
    for record in of_run {
        assert_eq!(text(record, "data"), "numerals");
        assert!(number(record, "parameter_change") > 1e-4);
        assert!(number(&record["end"], "theorem1_residual") < 1e-5);
        for protocol in ["linear_probe", "knn"] {
            let (accuracy, floors) = (&record[protocol]["accuracy"], &record[protocol]["floors"]);
            assert!((0.0..=1.0).contains(&number(accuracy, "all")), "{protocol}");
            assert_eq!(floors["size"]["all"], Value::Null, "{protocol}");
            for floor in ["majority", "raw", "untrained"] {
                assert!(
                    (0.0..=1.0).contains(&number(&floors[floor], "all")),
                    "{protocol}"
                );
            }
        }
    }
    let encoders = names(&at.path().join("out"));
    assert!(encoders.contains(&"encoder-icl-seed0.safetensors".to_owned()));
}

#[test]
fn training_lowers_the_exact_risk_of_embedded_digits() {
    let at = tempdir().unwrap();
    let line = "train --data MNIST-1v7 --limit 100 --stem standard --epochs 12 --batch-size 20 \
                --learning-rate 0.001 --average-decay 0.9 --evaluate-every 6 --out out";
    ran(at.path(), line);
    let record = record(&at.path().join("out"));
    let (untrained, trained) = (number(&record, "untrained"), number(&record, "trained"));
    assert!(trained < untrained - 0.3, "from {untrained} to {trained}");
    assert!(number(&record, "parameter_change") > 0.01);
}

#[test]
fn an_encoder_is_trained_updated_and_used() {
    let at = with_digits();
    let new = Digits {
        n: 16,
        side: 16,
        classes: [7, 4],
    };
    new.write(at.path(), "more");
    ran(
        at.path(),
        &format!(
            "train --data numerals --projection 8 --epochs 3 --stop never --out first {OPTIONS}"
        ),
    );
    let first = record(&at.path().join("first"));
    assert!(number(&first, "parameter_change") > 1e-4);
    let options = OPTIONS.replace("--encoder resnet18 --stem standard", "");
    ran(
        at.path(),
        &format!(
            "update --from first/encoder.safetensors --old numerals --new more --epochs 2 --stop never \
             --out second {options}"
        ),
    );
    let second = record(&at.path().join("second"));
    assert_eq!(
        (number(&second, "n_old"), number(&second, "n_new")),
        (23.0, 15.0)
    );
    assert!(number(&second, "parameter_change") > 1e-4);
    for (encoder, data, n) in [("first", "numerals", 24), ("second", "more", 16)] {
        let line =
            format!("embed --from {encoder}/encoder.safetensors --data {data} --out {encoder}.npy");
        ran(at.path(), &line);
        let (header, values) = npy(&at.path().join(format!("{encoder}.npy")));
        // Embeddings are the features below the projection head.
        assert!(header.contains(&format!("({n}, 512)")), "{header}");
        assert!(values.iter().all(|value| value.is_finite()));
        assert!(values.iter().any(|value| *value != values[0]));
    }
    // The number of threads changes nothing of what is embedded.
    let line = "embed --from first/encoder.safetensors --data numerals --out again.csv";
    for threads in ["1", "4"] {
        let output = command(at.path(), &split(&format!("{line} --force")))
            .env("RAYON_NUM_THREADS", threads)
            .output()
            .unwrap();
        assert!(output.status.success());
        let again = fs::read_to_string(at.path().join("again.csv")).unwrap();
        let labels: Vec<&str> = again
            .lines()
            .skip(1)
            .map(|l| l.split(',').nth(1).unwrap())
            .collect();
        assert_eq!(labels[..4], ["1", "7", "1", "7"]);
        let of_csv: Vec<f32> = again
            .lines()
            .skip(1)
            .flat_map(|line| line.split(',').skip(3).map(|x| x.parse::<f32>().unwrap()))
            .collect();
        assert_eq!(
            of_csv,
            npy(&at.path().join("first.npy")).1,
            "{threads} threads"
        );
    }
}

/// Images of 8 x 8 pixels have a perceptron and weak augmentations unless others are chosen.
#[test]
fn a_perceptron_of_small_images_is_trained_updated_and_used() {
    let at = tempdir().unwrap();
    let at = at.path();
    let few = "--batch-size 16 --epochs 4 --stop never";
    ran(
        at,
        &format!("train --data digits --classes 0,1,2,3,4 --limit 120 --out first {few}"),
    );
    let first = record(&at.join("first"));
    assert!(number(&first, "trained") < number(&first, "untrained"));
    let encoder = fs::read(at.join("first/encoder.safetensors")).unwrap();
    let encoder = String::from_utf8_lossy(&encoder);
    for part in ["image-mlp", "shift_px", "contrast"] {
        assert!(encoder.contains(part), "{part}");
    }
    ran(
        at,
        &format!(
            "update --from first/encoder.safetensors --old digits --old-classes 0,1,2,3,4 --new digits \
             --new-classes 5,6,7,8,9 --limit 120 --out second {few}"
        ),
    );
    assert!(number(&record(&at.join("second")), "parameter_change") > 0.0);
    ran(
        at,
        "embed --from second/encoder.safetensors --data digits --limit 50 --out e.npy",
    );
    let (header, values) = npy(&at.join("e.npy"));
    assert!(header.contains("(50, 128)"), "{header}");
    assert!(values.iter().all(|value| value.is_finite()));
    icl(
        at,
        &split("embed --from first/encoder.safetensors --data MUTAG --out x.npy"),
    )
    .rejected(
        "found an encoder of kind \"image-mlp\", expected one for graphs: \"gcn\" or \"gin\"",
    );
}

#[test]
fn a_comparison_on_small_images_takes_the_encoder_that_is_chosen() {
    let at = tempdir().unwrap();
    let at = at.path();
    let few = "--data digits --split class:0,1,2,3,4 --limit 100 --seed 0 --method warm --epochs 1 --batch-size 16";
    for (options, kind) in [
        ("", "image-mlp"),
        ("--width 16 --layers 1 --projection 8", "image-mlp"),
        (
            "--noise linear --keep-columns 0.9",
            "keep-columns: found it with the noise linear",
        ),
        ("--noise linear", "\"mlp\""),
        (
            "--noise linear --image-size 8",
            "image-size: found 8 with the encoder mlp and the noise linear",
        ),
        (
            "--noise augment-linear",
            "noise: found augment-linear for images",
        ),
        (
            "--stem small",
            "stem: found it with the encoder mlp of images",
        ),
    ] {
        let ran = icl(at, &split(&format!("run {few} {options} --out out")));
        if kind.contains(':') {
            ran.rejected(kind);
            continue;
        }
        ran.succeeded();
        let encoder = fs::read(at.join("out/encoder-warm-seed0.safetensors")).unwrap();
        assert!(
            String::from_utf8_lossy(&encoder).contains(kind),
            "{options}"
        );
        fs::remove_dir_all(at.join("out")).unwrap();
    }
}

#[test]
fn runs_are_the_same_on_any_number_of_threads() {
    let at = with_digits();
    let mut encoders = Vec::new();
    for threads in ["1", "2", "4"] {
        let line = format!(
            "train --data numerals --epochs 2 --seed 3 --out with{threads} --blur 0.5 {OPTIONS}"
        );
        let output = command(at.path(), &split(&line))
            .env("RAYON_NUM_THREADS", threads)
            .output()
            .unwrap();
        assert!(output.status.success());
        let folder = at.path().join(format!("with{threads}"));
        encoders.push(fs::read(folder.join("encoder.safetensors")).unwrap());
    }
    assert!(encoders[0] == encoders[1] && encoders[1] == encoders[2]);
}

#[test]
fn images_are_selected() {
    let at = with_digits();
    let digits = Digits {
        n: 40,
        side: 8,
        classes: [3, 8],
    };
    digits.write(at.path(), "many");
    let line = format!(
        "train --data many --classes 8 --limit 7 --image-size 12 --epochs 1 --out out {OPTIONS}"
    );
    ran(at.path(), &line);
    assert_eq!(number(&record(&at.path().join("out")), "n"), 5.0);
    let config = fs::read_to_string(at.path().join("out/config.toml")).unwrap();
    for line in [
        "classes = \"8\"",
        "limit = 7",
        "image-size = 12",
        "stem = \"standard\"",
    ] {
        assert!(config.contains(line), "{config}");
    }
}

#[test]
fn what_cannot_be_asked_for() {
    let at = with_digits();
    fs::write(at.path().join("noise.pth"), b"no state dict").unwrap();
    for (line, message) in [
        (
            "train --data MUTAG --image-size 8",
            "image-size: found it with the encoder gcn of graphs, expected it with resnet18 or convnet only",
        ),
        (
            "train --data MUTAG --classes 5",
            "found no class \"5\", expected classes among -1, 1",
        ),
        (
            "run --data MUTAG --stem small",
            "stem: found it with the encoder gcn",
        ),
        (
            "train --data numerals --classes 1,2",
            "found no class \"2\", expected classes among 1, 7",
        ),
        ("train --data numerals --limit 0", "limit: found 0"),
        (
            "train --data numerals --encoder resnet18 --image-size 0",
            "found 0 as size",
        ),
        (
            "train --data numerals --encoder resnet18 --projection 0",
            "projection: found 0",
        ),
        (
            "train --data numerals --encoder convnet --weights none.pth",
            "weights: found it with the encoder convnet of images, expected it with resnet18 only",
        ),
        (
            "train --data numerals --encoder convnet --width 0",
            "width: found 0",
        ),
        (
            "train --data numerals --encoder convnet --width 8192",
            "found 29666943040 weights",
        ),
        (
            "train --data numerals --encoder resnet18 --blur 1.5",
            "found 1.5 as blur",
        ),
        (
            "train --data numerals --encoder resnet18 --weights none.pth --hold-out 0",
            "none.pth: found no readable file",
        ),
        (
            "train --data numerals --encoder resnet18 --stem standard --weights noise.pth --hold-out 0",
            "noise.pth",
        ),
    ] {
        icl(at.path(), &split(&format!("{line} --out out"))).rejected(message);
    }
    icl(
        at.path(),
        &split("train --data numerals --stem big --out out"),
    )
    .rejected_at_length("big");
    assert_eq!(names(at.path()), ["noise.pth", "numerals"]);
}

#[test]
fn kinds_of_data_are_not_mixed() {
    let at = with_digits();
    ran(
        at.path(),
        &format!("train --data numerals --epochs 1 --out of-images {OPTIONS}"),
    );
    ran(at.path(), "train --data MUTAG --epochs 1 --out of-graphs");
    for (line, message) in [
        (
            "embed --from of-images/encoder.safetensors --data MUTAG --out x.npy",
            "found an encoder of kind \"resnet-18\", expected one for graphs: \"gcn\" or \"gin\"",
        ),
        (
            "embed --from of-graphs/encoder.safetensors --data numerals --out x.npy",
            "found an encoder of kind \"gcn\", expected one for images: \"resnet-18\" or \"convnet\" or \
             \"image-mlp\" or \"mlp\"",
        ),
        (
            "update --from of-images/encoder.safetensors --old numerals --new MUTAG --out x",
            "new: found graphs, expected the same kind of data",
        ),
    ] {
        icl(at.path(), &split(line)).rejected(message);
    }
}
