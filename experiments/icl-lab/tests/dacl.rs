//! `icl-lab reproduce dacl1`, `dacl2` and `dacl4`: the rows that they compute, the page, and that a second command
//! continues with the rows that are missing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::{Ran, lab, split};
use serde_json::Value;
use tempfile::tempdir;

const TABLES: &str =
    "reproduce dacl1 --data-sets digits --seeds 1 --epochs 1 --limit 100 --width 8 --out out";
const GRAPHS: &str = "reproduce dacl4 --data-sets MUTAG --seeds 1 --epochs 1 --width 4 --out out";

fn run(at: &Path, line: &str) -> Ran {
    lab(at, &split(line)).succeeded()
}

/// The records, without the only key that depends on the machine's speed.
fn records(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        let time = record.as_object_mut().unwrap().remove("time_s");
        assert!(time.unwrap().as_f64() >= Some(0.0));
        record
    });
    lines.collect()
}

/// Asserts that accuracies are shares, that training moved parameters, and that every row is there once.
fn check(records: &[Value], n_rows: usize, n_trained: usize) {
    let rows: BTreeSet<&str> = records.iter().map(|r| r["row"].as_str().unwrap()).collect();
    assert_eq!((records.len(), rows.len()), (n_rows, n_rows));
    for record in records {
        let accuracies = record["accuracies"].as_object().unwrap();
        let known: Vec<f64> = accuracies.values().filter_map(Value::as_f64).collect();
        assert!(!known.is_empty(), "{record}");
        assert!(known.iter().all(|of| (0.0..=1.0).contains(of)), "{record}");
    }
    let trained: Vec<&Value> = records
        .iter()
        .map(|record| &record["training"])
        .filter(|training| !training.is_null())
        .collect();
    assert_eq!(trained.len(), n_trained);
    for training in trained {
        assert!(
            training["parameter_change"].as_f64() > Some(0.0),
            "{training}"
        );
        for risk in ["risk_before_nats", "risk_after_nats"] {
            assert!(training[risk].as_f64() > Some(0.0), "{training}");
        }
    }
}

#[test]
fn rows_of_tables_are_computed_once() {
    let at = tempdir().unwrap();
    let ran = run(at.path(), TABLES);
    assert!(
        ran.stderr.contains("0 rows are complete, 16 to run"),
        "{}",
        ran.stderr
    );
    let path = at.path().join("out/dacl1.jsonl");
    let first = records(&path);
    check(&first, 16, 11);
    let page = fs::read_to_string(at.path().join("out/dacl1.md")).unwrap();
    for words in [
        "# Table 1 of DACL, reproduced",
        "| DACL, α = 0.9 | ",
        " | not tested |",
        "Letter, Satellite, Spambase, DNA, Fashion-MNIST, CIFAR-10-4000, without records.",
        "icl-lab reproduce dacl1 --seeds 1 --data-sets digits --limit 100 --width 8 --epochs 1 --batch-size 512 --optimizer adam",
        "optimizer adam",
        "icl-lab reproduce dacl2 tests it, with images and a GPU.",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }

    // As after a stop: some rows are there, and a line was cut off.
    let text = fs::read_to_string(&path).unwrap();
    let kept: Vec<&str> = text.lines().take(12).collect();
    fs::write(&path, format!("{}\n{{\"schema\":1,\"tar", kept.join("\n"))).unwrap();
    let ran = run(at.path(), TABLES);
    assert!(
        ran.stderr.contains("12 rows are complete, 4 to run"),
        "{}",
        ran.stderr
    );
    assert!(
        fs::read_to_string(&path)
            .unwrap()
            .starts_with(&kept.join("\n"))
    );
    assert_eq!(records(&path), first);

    for (other, found) in [
        (
            TABLES.replace("--epochs 1", "--epochs 2"),
            "found a record of dacl1 with epochs 1,",
        ),
        (
            format!("{TABLES} --optimizer lars"),
            "found a record of dacl1 with epochs 1, batch size 512, width 8, optimizer adam,",
        ),
    ] {
        lab(at.path(), &split(&other)).rejected(found);
        assert_eq!(records(&path), first);
    }

    // Records of earlier versions do not name the optimizer.
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace(r#","optimizer":"adam""#, "")).unwrap();
    let ran = run(at.path(), TABLES);
    assert!(
        ran.stderr.contains("16 rows are complete, 0 to run"),
        "{}",
        ran.stderr
    );
}

#[test]
fn rows_of_graphs_are_computed() {
    let at = tempdir().unwrap();
    run(at.path(), GRAPHS);
    check(&records(&at.path().join("out/dacl4.jsonl")), 8, 3);
    let page = fs::read_to_string(at.path().join("out/dacl4.md")).unwrap();
    for words in ["MUTAG · 188 graphs · seed 0", "81.7 ± 2.6", "85.3 ± 1.3"] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

/// The training of a ResNet-18 takes too long here; the rows are counted, and none starts.
#[test]
fn rows_of_images_are_those_of_the_target() {
    let at = tempdir().unwrap();
    let folder = at.path().join("data/cifar10");
    fs::create_dir_all(&folder).unwrap();
    let images = (0..100_u8).flat_map(|image| {
        let pixels = (0..3072_usize).map(move |pixel| (pixel % 251) as u8 ^ image);
        std::iter::once(image % 10).chain(pixels)
    });
    let file = folder.join("cifar10_train_first4000_lossless.bin.gz");
    fs::write(file, images.collect::<Vec<u8>>()).unwrap();
    let ran = run(
        at.path(),
        "reproduce dacl2 --data-dir data --seeds 2 --budget 0 --out out",
    );
    assert!(
        ran.stderr
            .contains("the budget is spent: 20 rows have not run"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        fs::read_to_string(at.path().join("out/dacl2.jsonl")).unwrap(),
        ""
    );
}

#[test]
fn what_cannot_be_run_is_said() {
    let at = tempdir().unwrap();
    for (line, needle) in [
        (
            "dacl1 --data-sets MUTAG",
            "data-sets: found \"MUTAG\", expected one of digits,",
        ),
        (
            "dacl2 --data-sets digits",
            "data-sets: found \"digits\", expected one of CIFAR-10-4000",
        ),
        (
            "dacl2 --batch-size 2",
            "batch-size: found 2, expected at least 4",
        ),
        (
            "dacl2 --data-dir none",
            "CIFAR-10-4000: found no none/cifar10/cifar10_train_first4000_lossless.bin.gz",
        ),
        ("dacl1 --epochs 0", "epochs: found 0, expected at least 1"),
        ("dacl1 --limit 5", "limit: found 5, expected at least 100"),
        ("dacl1 --budget=-1", "budget: found -1"),
        (
            "dacl1 --data-sets Letter --data-dir none",
            "Letter: found no none/tabular/LetterRecognition.csv.gz",
        ),
        (
            "dacl4 --data-sets PTC_MR --data-dir none",
            "found neither PTC_MR.zip",
        ),
    ] {
        lab(at.path(), &split(&format!("reproduce {line}"))).rejected(needle);
    }
    for (line, needle) in [
        ("dacl4 --limit 200", "unexpected argument '--limit'"),
        ("dacl2 --width 8", "unexpected argument '--width'"),
        (
            "dacl2 --optimizer lars",
            "unexpected argument '--optimizer'",
        ),
        ("dacl1 --optimizer sgd", "invalid value 'sgd'"),
    ] {
        lab(at.path(), &split(&format!("reproduce {line}"))).rejected_at_length(needle);
    }
    for line in ["reproduce dacl9", "reproduce"] {
        assert_eq!(lab(at.path(), &split(line)).code, Some(2), "{line}");
    }
    let budget = run(at.path(), &format!("{TABLES} --budget 0"));
    assert!(
        budget
            .stderr
            .contains("the budget is spent: 16 rows have not run")
    );
    assert!(!at.path().join("out/dacl1.md").exists());
    let shared = ["--data-sets", "--epochs", "--seeds", "--out"];
    for (target, has, lacks) in [
        ("dacl1", &["--limit", "--width", "--optimizer"][..], &[][..]),
        ("dacl2", &["--limit"], &["--width", "--optimizer"]),
        ("dacl4", &["--width"], &["--limit", "--optimizer"]),
    ] {
        let help = run(at.path(), &format!("reproduce {target} --help")).stdout;
        for option in shared.iter().chain(has) {
            assert!(help.contains(option), "{option}: {help}");
        }
        for option in lacks {
            assert!(!help.contains(option), "{option}: {help}");
        }
        assert!(help.contains("DIR/TARGET.jsonl"), "{help}");
    }
}
