//! The program: its help, and the commands and protocols of `icl`.

use std::fs;

use crate::support::{lab, number, records, split};
use tempfile::tempdir;

#[test]
fn help_names_the_other_commands() {
    let at = tempdir().unwrap();
    let help = lab(at.path(), &["--help"]).succeeded().stdout;
    for words in ["reproduce", "Every other command is that of `icl`"] {
        assert!(help.contains(words), "{help}");
    }
    let version = lab(at.path(), &["--version"]).succeeded().stdout;
    assert!(version.starts_with("icl-lab "), "{version}");
    let methods = lab(at.path(), &["methods"]).succeeded().stdout;
    assert!(methods.contains("icl-published"), "{methods}");
}

#[test]
fn a_run_is_judged_by_the_support_vector_machine() {
    let at = tempdir().unwrap();
    let line = "run --seed 0 --epochs 1 --method warm --protocol svm,knn --out out";
    lab(at.path(), &split(line)).succeeded();
    let out = at.path().join("out");
    let record = &records(&out)[0];
    let measured = &record["added_protocols"]["support vector machine"];
    for of in [&measured["accuracy"], &measured["floors"]["untrained"]] {
        assert!((0.0..=1.0).contains(&number(of, "all")), "{measured}");
    }
    assert!(record["linear_probe"].is_null());
    let config = fs::read_to_string(out.join("config.toml")).unwrap();
    assert!(config.contains("protocol = [\"knn\", \"svm\"]"), "{config}");
    let report = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(report.contains("Accuracy by the support vector machine"));
    let help = lab(at.path(), &["run", "-h"]).succeeded().stdout;
    assert!(help.contains("svm (support vector machine)"), "{help}");
    lab(at.path(), &split("run --protocol none,svm --out other"))
        .rejected("protocol: found none together with svm, expected none alone");
}

/// The options of the README's table are those of the program.
#[test]
fn options_are_documented() {
    let at = tempdir().unwrap();
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let help = lab(at.path(), &["reproduce", "-h"]).succeeded().stdout;
    let rows = readme.lines().filter_map(|line| line.strip_prefix("| `--"));
    let names: Vec<&str> = rows
        .map(|row| row.split(['`', ' ']).next().unwrap())
        .collect();
    assert!(names.len() > 3, "{names:?}");
    for name in names {
        assert!(help.contains(&format!("--{name} ")), "--{name}");
    }
}
