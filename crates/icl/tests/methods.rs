//! `icl methods`, and the texts of help.

#![cfg(feature = "program")]
#![allow(clippy::unwrap_used, reason = "a failed test says enough")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod support;

use serde_json::Value;
use support::{icl, split, text};
use tempfile::tempdir;

const METHODS: [&str; 7] = [
    "inference",
    "retraining",
    "warm",
    "warm-sub",
    "fine-tuning",
    "icl-published-wo-m-lrl",
    "icl-corrected",
];

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
        assert_eq!(keys, ["name", "objective", "optimizer", "rate", "start"]);
        for choice in ["start", "objective", "optimizer", "rate"] {
            assert!(!text(method, choice).is_empty());
        }
    }
    assert_eq!(text(&methods[1], "start"), "scratch");
    assert_eq!(text(&methods[6], "start"), "θ₀");
    assert!(text(&methods[5], "objective").contains("Eq. 9"));
}

#[test]
fn the_registry_as_a_table() {
    let at = tempdir().unwrap();
    let table = icl(at.path(), &["methods"]).succeeded().stdout;
    for column in ["method", "start", "objective", "optimizer", "learning rate"] {
        assert!(table.lines().any(|line| line.contains(column)), "{column}");
    }
    let rows: Vec<&str> = table
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
        .collect();
    assert_eq!(rows[0], "method");
    assert_eq!(rows[1..], METHODS);
}

#[test]
fn help_and_version() {
    let at = tempdir().unwrap();
    let ran = icl(at.path(), &["--version"]).succeeded();
    assert_eq!(ran.stdout, concat!("icl ", env!("CARGO_PKG_VERSION"), "\n"));
    for (line, words) in [
        ("--help", &["run", "diagnose", "methods", "report"][..]),
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
        ("help run", &["--force"]),
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
