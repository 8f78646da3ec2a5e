//! `icl methods`, and the texts of help.

use std::fs;

use crate::support::{METHODS, icl, split, text};
use serde_json::Value;
use tempfile::tempdir;

#[test]
fn the_registry_as_json() {
    let at = tempdir().unwrap();
    let ran = icl(at.path(), &["methods", "--json"]).succeeded();
    let methods: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    let names: Vec<&str> = methods.iter().map(|method| text(method, "name")).collect();
    assert_eq!(names, METHODS);
    for method in &methods {
        let mut keys: Vec<&String> = method.as_object().unwrap().keys().collect();
        keys.sort();
        assert_eq!(
            keys,
            ["loss", "name", "optimizer", "rate", "sampling", "start"]
        );
    }
    let of = |name: &str| {
        let at = names.iter().position(|known| *known == name).unwrap();
        AXES.map(|axis| text(&methods[at], axis)).join(" ")
    };
    for (name, choices) in [
        ("inference", "trained – none – –"),
        ("retraining", "scratch all info-nce plain fixed"),
        ("warm-sub", "trained share:0.2 info-nce plain fixed"),
        (
            "distillation",
            "trained new info-nce+distillation plain fixed",
        ),
        ("replay", "trained buffer info-nce plain fixed"),
        ("icl", "frozen-norm widening info-nce plain fixed"),
        (
            "icl-published",
            "trained stratified published meta learned-published",
        ),
        (
            "icl-published-wo-lrl",
            "trained stratified published meta fixed",
        ),
        (
            "icl-published-wo-m",
            "trained stratified published plain learned-published",
        ),
        ("icl-corrected", "trained stratified corrected meta learned"),
        (
            "icl-corrected-wo-m-lrl",
            "trained stratified corrected plain fixed",
        ),
        ("warm-cosine", "trained all info-nce plain cosine"),
    ] {
        assert_eq!(of(name), choices, "{name}");
    }
}

/// The five axes, in the order of the columns.
const AXES: [&str; 5] = ["start", "sampling", "loss", "optimizer", "rate"];

#[test]
fn the_registry_as_a_table_of_100_columns() {
    let at = tempdir().unwrap();
    let table = icl(at.path(), &["methods"]).succeeded().stdout;
    let widest = table.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{widest:?}\n{table}");
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    assert_eq!(header[0], "method");
    assert_eq!(header[1..], AXES);
    let rows = lines.take_while(|line| !line.is_empty());
    let rows: Vec<Vec<&str>> = rows.map(|line| line.split_whitespace().collect()).collect();
    assert!(rows.iter().all(|row| row.len() == 6), "{table}");
    let names: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(names, METHODS);
}

/// The book's table of methods has a row for each of them.
#[test]
fn the_book_lists_every_method() {
    let book = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/book/src/methods.md"
    );
    let page = fs::read_to_string(book).unwrap();
    for name in METHODS {
        let row = format!("\n| `{name}` | `");
        assert!(page.contains(&row), "{name}");
    }
}

/// A method that no registry names is trained, recorded under its point, and can be run next to others.
#[test]
fn a_point_of_the_axes_is_a_method() {
    let at = tempdir().unwrap();
    let point = "start=trained,sampling=share:0.5,loss=corrected,optimizer=plain,rate=cosine";
    let line = "run --data MUTAG --seed 0 --epochs 2 --out out --method";
    let methods = format!("warm,{point}");
    let line: Vec<&str> = line.split(' ').chain([methods.as_str()]).collect();
    icl(at.path(), &line).succeeded();
    let records = fs::read_to_string(at.path().join("out/record.jsonl")).unwrap();
    let records = records
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let records: Vec<Value> = records.collect();
    let names: Vec<&str> = records
        .iter()
        .map(|record| text(record, "method"))
        .collect();
    assert_eq!(names, ["warm", point]);
    assert!(
        records
            .iter()
            .all(|record| record["parameter_change"].as_f64() > Some(0.0))
    );
    let wrong = icl(
        at.path(),
        &["run", "--method", "sampling=new,loss=corrected"],
    );
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong
            .stderr
            .contains("the loss corrected with the sampling new"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn help_and_version() {
    let at = tempdir().unwrap();
    let ran = icl(at.path(), &["--version"]).succeeded();
    assert_eq!(ran.stdout, concat!("icl ", env!("CARGO_PKG_VERSION"), "\n"));
    for (line, words) in [
        (
            "--help",
            &["run", "diagnose", "methods", "report", "embed"][..],
        ),
        (
            "run --help",
            &["--data", "--method", "[default: 0.003]", "--config"],
        ),
        (
            "diagnose --help",
            &["--anchors", "--per-sample", "f32 or f64", "nats"],
        ),
        ("methods --help", &["--json"]),
        ("report --help", &["<DIR>"]),
        ("help run", &["--force", "--meta-order"]),
        (
            "train -h",
            &[
                "--data",
                "--learning-rate",
                "icl train --data photos/",
                "icl train --help",
            ],
        ),
    ] {
        let ran = icl(at.path(), &split(line)).succeeded();
        for word in words {
            assert!(
                ran.stdout.contains(word),
                "{word} in {line}: {}",
                ran.stdout
            );
        }
        // It fits a terminal, also where the width is not known.
        let widest = ran.stdout.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{line}: {widest:?}");
        assert_eq!(ran.stderr, "");
    }
}
