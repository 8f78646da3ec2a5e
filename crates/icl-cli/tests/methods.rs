//! `icl methods`, and the texts of help.

#![allow(clippy::unwrap_used, reason = "a failed test says enough")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use support::{METHODS, documented, icl, split, text};
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
        assert_eq!(keys, ["name", "objective", "optimizer", "rate", "start"]);
        for choice in ["start", "objective", "optimizer", "rate"] {
            assert!(!text(method, choice).is_empty());
        }
    }
    assert_eq!(text(&methods[1], "start"), "scratch");
    let of = |name: &str| {
        let at = names.iter().position(|known| *known == name).unwrap();
        ["start", "objective", "optimizer", "rate"].map(|choice| text(&methods[at], choice))
    };
    let published = of("icl-published");
    assert_eq!(published[0], "θ₀");
    assert!(published[1].contains("Eq. 9"));
    assert_eq!(published[2..], ["meta", "learned (as published)"]);
    assert_eq!(of("icl-published-wo-lrl")[2..], ["meta", "fixed"]);
    assert_eq!(
        of("icl-published-wo-m")[2..],
        ["plain", "learned (as published)"]
    );
    assert_eq!(of("icl-published-wo-m-lrl")[2..], ["plain", "fixed"]);
    assert_eq!(of("icl-corrected")[2..], ["meta", "learned"]);
    assert_eq!(of("warm-cosine")[3], "cosine");
    assert_eq!(of("inference")[1..], ["–", "–", "–"]);
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
        (
            "--help",
            &["run", "diagnose", "methods", "report", "reproduce", "embed"][..],
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

/// The book's tables of options hold those of all commands, each once.
#[test]
fn the_book_documents_every_option() {
    let at = tempdir().unwrap();
    let mut options = BTreeSet::new();
    for command in [
        "run",
        "train",
        "update",
        "embed",
        "fetch",
        "diagnose",
        "methods",
        "compare-backends",
        "backends",
        "report",
        "reproduce",
    ] {
        let help = icl(at.path(), &[command, "-h"]).succeeded().stdout;
        let names = help.lines().filter_map(|line| {
            let name = line.trim_start().strip_prefix("--")?;
            name.split([' ', '['])
                .next()
                .map(|name| format!("--{name}"))
        });
        options.extend(names);
    }
    assert!(options.len() > 40, "{options:?}");
    // An alias stands beside its name.
    options.insert("--k".to_owned());
    let mut found = BTreeSet::new();
    for page in ["program", "reproduce"] {
        let book = env!("CARGO_MANIFEST_DIR");
        let page = fs::read_to_string(format!("{book}/../../docs/book/src/{page}.md")).unwrap();
        let rows = page.lines().filter(|line| line.starts_with("| `--"));
        for row in rows {
            for name in documented(row) {
                assert!(found.insert(name.clone()), "{name} stands there twice");
            }
        }
    }
    assert_eq!(found, options);
}
