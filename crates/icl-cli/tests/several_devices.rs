//! Commands of one process that trains on several devices, a thread each. The device of the CPU stands for all of them.

use std::fs;
use std::path::Path;

use crate::support::toys::{NEW, OLD};
use crate::support::{icl, names, split};
use serde_json::Value;
use tempfile::tempdir;

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Asserts that two folders hold the same encoder but for rounding: their risks and losses agree to 1e-5.
fn assert_same_run(at: &Path, found: &str, expected: &str) {
    let [found, expected] =
        [found, expected].map(|folder| json(&at.join(folder).join("record.json")));
    let losses = |record: &Value| {
        let of_epoch = record["epoch_losses"].as_array().unwrap();
        let risk = record.get("trained").or_else(|| record["after"].get("all"));
        let values: Vec<f64> = of_epoch
            .iter()
            .chain(risk)
            .flat_map(Value::as_f64)
            .collect();
        assert!(values.len() > 3, "{record}");
        values
    };
    for (found, expected) in losses(&found).iter().zip(losses(&expected)) {
        assert!((found - expected).abs() < 1e-5, "{found} {expected}");
    }
}

/// Two devices have two shards of a batch, as one with chunks of half a batch has.
#[test]
fn devices_train_the_encoder_of_one() {
    let at = tempdir().unwrap();
    OLD.write(at.path(), "old");
    NEW.write(at.path(), "new");
    let train = "train --data old --epochs 3 --batch-size 16";
    let line = format!("{train} --backend flex,flex:cpu --out two");
    let ran = icl(at.path(), &split(&line)).succeeded();
    for (text, told) in [
        (&ran.stdout, "written to two"),
        (&ran.stderr, "warning: 2 shards of 8 samples"),
        (&ran.stderr, "3 epochs on"),
    ] {
        assert_eq!(text.matches(told).count(), 1, "{text}");
    }
    icl(at.path(), &split(&format!("{train} --chunk 8 --out one"))).succeeded();
    assert_same_run(at.path(), "two", "one");
    assert_eq!(names(&at.path().join("two")), names(&at.path().join("one")));

    let update = "update --from two/encoder.safetensors --old old --new new --epochs 3 --batch-size 16 --budget none";
    let line = format!("{update} --backend flex,flex,flex --out three");
    icl(at.path(), &split(&line)).succeeded();
    icl(
        at.path(),
        &split(&format!("{update} --chunk 6 --out alone")),
    )
    .succeeded();
    assert_same_run(at.path(), "three", "alone");
    assert_eq!(
        names(at.path()),
        ["alone", "new", "old", "one", "three", "two"],
        "one output of all devices"
    );
}

#[test]
fn comparisons_and_streams_run_on_devices() {
    let at = tempdir().unwrap();
    OLD.write(at.path(), "old");
    for line in [
        "run --data old --method warm,icl --epochs 2 --protocol none",
        "stream --data old --split data:3 --epochs 2 --control retraining --keep reservoir:10",
    ] {
        let out = format!("{}-two", split(line)[0]);
        let line = format!("{line} --backend flex,flex --out {out}");
        let ran = icl(at.path(), &split(&line)).succeeded();
        let told = ran.stdout.matches("written to").count();
        assert_eq!(told, 1, "{}", ran.stdout);
    }
}

/// The updates of a stream are shared: devices get the risks of one with chunks of half a batch.
#[test]
fn devices_share_the_updates_of_a_stream() {
    let at = tempdir().unwrap();
    OLD.write(at.path(), "old");
    let line = "stream --data old --split data:3 --epochs 3 --batch-size 8 --control warm --keep reservoir:10";
    for rest in ["--backend flex,flex --out two", "--chunk 4 --out one"] {
        icl(at.path(), &split(&format!("{line} {rest}"))).succeeded();
    }
    let risks = |folder: &str| -> Vec<f64> {
        let matrix = json(&at.path().join(folder).join("matrix.json"));
        let rows = matrix["risk"].as_array().unwrap();
        let values = rows.iter().flat_map(|row| row.as_array().unwrap());
        values.filter_map(Value::as_f64).collect()
    };
    let (two, one) = (risks("two"), risks("one"));
    assert!(two.len() >= 6, "{two:?}");
    assert_eq!(two.len(), one.len());
    for (two, one) in two.iter().zip(&one) {
        assert!((two - one).abs() < 1e-5, "{two} {one}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_goes_on_on_as_many_devices() {
    use crate::support::stopped::{begin, epochs_of_some_seconds, interrupt};

    let at = tempdir().unwrap();
    OLD.write(at.path(), "old");
    let line = |n_epochs: usize, out: &str| {
        format!("train --data old --epochs {n_epochs} --stop never --backend flex,flex --out {out}")
    };
    let n_epochs = epochs_of_some_seconds(&at.path().join("whole"), |n_epochs| {
        icl(at.path(), &split(&line(n_epochs, "whole")))
    });
    let name = "training.checkpoint";
    let child = begin(at.path(), &line(n_epochs, "stopped"), "stopped", name);
    let ran = interrupt(child);
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    let told = ran.stderr.matches("interrupted: ").count();
    assert_eq!(told, 1, "{}", ran.stderr);
    icl(at.path(), &split("train --resume stopped")).succeeded();
    assert_same_run(at.path(), "stopped", "whole");
}

#[test]
fn what_several_devices_cannot_do_is_one_error() {
    let at = tempdir().unwrap();
    OLD.write(at.path(), "old");
    NEW.write(at.path(), "new");
    icl(at.path(), &split("train --data old --epochs 1 --out first")).succeeded();
    let update = "update --from first/encoder.safetensors --old old --new new --backend flex,flex --out refused";
    for (line, expected) in [
        (
            format!("{update} --method icl-published-wo-lrl"),
            "found batches in 2 shards with meta-optimization",
        ),
        (
            format!("{update} --method warm-lrl"),
            "found batches in 2 shards with a learned rate",
        ),
        (
            "train --data missing --backend flex,flex --out refused".to_owned(),
            "missing: found no such file or folder",
        ),
        (
            "train --data old --backend flex,cuda --out refused".to_owned(),
            "backend: found \"cuda\" together with \"flex\", expected devices of one backend",
        ),
        (
            "train --data old --backend flex, --out refused".to_owned(),
            "backend: found \"\" together with \"flex\"",
        ),
        (
            "stream --watch old --backend flex,flex --out refused".to_owned(),
            "--watch",
        ),
        (
            "embed --from first/encoder.safetensors --data old --backend flex,flex --out refused.npy"
                .to_owned(),
            "backend: found the devices flex,flex, expected one",
        ),
    ] {
        icl(at.path(), &split(&line)).rejected_in_last_line(expected);
        assert!(!at.path().join("refused").exists());
    }
}
