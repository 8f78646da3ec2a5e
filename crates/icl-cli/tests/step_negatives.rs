//! The number of negatives of training steps, from outside.

use std::fs;

use crate::support::toys::{NEW, OLD};
use crate::support::{METHODS, icl, records, split, text};
use serde_json::Value;
use tempfile::tempdir;

fn numbers(of: &Value) -> Vec<f64> {
    let numbers = of.as_array().unwrap().iter();
    numbers.map(|number| number.as_f64().unwrap()).collect()
}

#[test]
fn every_method_runs_under_the_schedule() {
    let at = tempdir().unwrap();
    fs::write(at.path().join("c.toml"), "negatives = 8\n").unwrap();
    let line = "run --seed 0 --epochs 2 --stop never --method all --protocol knn --negatives-schedule ans \
                --negatives-form drawn --config c.toml --out o";
    let ran = icl(at.path(), &split(line)).succeeded();
    assert!(
        !ran.stderr.contains("may end the training"),
        "{}",
        ran.stderr
    );
    let records = records(&at.path().join("o"));
    let named: Vec<&str> = records
        .iter()
        .map(|record| text(record, "method"))
        .collect();
    assert_eq!(named, METHODS);
    for record in &records {
        let ks = numbers(&record["step_negatives"]);
        match text(record, "method") {
            "inference" => assert!(ks.is_empty()),
            // Both epochs lie beyond the turn for the most part: the second one has fewer.
            _ => assert!(
                ks.len() == 2 && 8.0 > ks[0] && ks[0] > ks[1] && ks[1] > 1.0,
                "{ks:?}"
            ),
        }
    }
    let config = fs::read_to_string(at.path().join("o/config.toml")).unwrap();
    assert!(config.contains("negatives = 8"), "{config}");
    let page = fs::read_to_string(at.path().join("o/report.html")).unwrap();
    assert!(page.contains("nats above chance") && page.contains("number of negatives K"));
}

#[test]
fn an_update_is_advised_by_its_encoder() {
    let at = tempdir().unwrap();
    OLD.write(at.path(), "OLD");
    NEW.write(at.path(), "NEW");
    let run = |line: &str| icl(at.path(), &split(line)).succeeded();
    run("train --data OLD --epochs 3 --stop never --out a");
    let ran = run(
        "update --from a/encoder.safetensors --old OLD --new NEW --epochs 3 --negatives auto \
         --negatives-schedule up --out b",
    );
    assert!(
        ran.stderr
            .contains("the course of up extends over --epochs 3"),
        "{}",
        ran.stderr
    );
    let record = fs::read_to_string(at.path().join("b/record.json")).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    assert_eq!(record["negatives"], 31.0);
    let ks = numbers(&record["step_negatives"]);
    assert!(
        ks.windows(2)
            .all(|pair| 1.0 <= pair[0] && pair[0] <= pair[1]),
        "{ks:?}"
    );
    let config = fs::read_to_string(at.path().join("b/config.toml")).unwrap();
    assert!(config.contains("negatives = \"auto\""), "{config}");
}

#[test]
fn negatives_that_do_not_fit_are_refused() {
    let at = tempdir().unwrap();
    let reject = |line: &str, needle: &str| icl(at.path(), &split(line)).rejected(needle);
    for (line, needle) in [
        (
            "train --data MUTAG --negatives auto --out o",
            "negatives: found auto, expected a number: only icl update",
        ),
        (
            "run --negatives auto --negatives-peak 9 --out o",
            "negatives-peak: found 9 with --negatives auto",
        ),
        (
            "run --negatives 0.5 --negatives-schedule up --stop never --out o",
            "negatives-peak: found 0.5, expected a number of at least 1",
        ),
        (
            "run --negatives-form drawn --noise-set both --out o",
            "negatives form: found drawn with the noise set both",
        ),
        (
            "diagnose --anchors a.npy --positives p.npy --old o.npy --new n.npy --negatives auto",
            "negatives: found auto, expected a number",
        ),
    ] {
        reject(line, needle);
    }
    icl(at.path(), &split("run --negatives many --out o"))
        .rejected_at_length("expected a number from 1e-9 to 1e9, or auto");
    icl(
        at.path(),
        &split("run --negatives-schedule ans --stop training-loss --out o"),
    )
    .rejected_in_last_line("negatives schedule: found one under which K moves");
    assert!(!at.path().join("o").exists());
}
