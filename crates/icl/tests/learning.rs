//! End to end on the embedded graphs: learning happens, and a seed gives one record.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Runs the program; the record's lines.
fn run(out: &Path, arguments: &[&str]) -> Vec<Value> {
    let status = Command::new(env!("CARGO_BIN_EXE_icl"))
        .arg("run")
        .args(arguments)
        .arg("--out")
        .arg(out)
        .output()
        .expect("the program starts");
    let errors = String::from_utf8_lossy(&status.stderr);
    assert!(status.status.success(), "{errors}");
    let text = std::fs::read_to_string(out.join("record.jsonl")).expect("a record");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect()
}

fn number(record: &Value, path: &str) -> f64 {
    record
        .pointer(path)
        .and_then(Value::as_f64)
        .unwrap_or_else(|| panic!("{path} is a number"))
}

/// A record without every key that names seconds.
fn timeless(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .filter(|(key, _)| !key.ends_with("_s"))
            .map(|(key, value)| (key.clone(), timeless(value)))
            .collect(),
        Value::Array(values) => values.iter().map(timeless).collect(),
        other => other.clone(),
    }
}

#[test]
fn training_learns_and_beats_the_untrained_encoder() {
    let folder = tempfile::tempdir().unwrap();
    let records = run(
        &folder.path().join("out"),
        &["--seed", "0", "--epochs", "60"],
    );
    assert_eq!(records.len(), icl::methods().len());
    let of = |method: &str| {
        records
            .iter()
            .find(|r| r["method"] == method)
            .expect("its record")
    };

    // Retraining starts from an untrained encoder: its first evaluation is that encoder's risk.
    let retraining = of("retraining");
    let untrained = number(retraining, "/start/all");
    assert!(number(retraining, "/risk/all") < untrained - 0.2);
    let losses = retraining["epoch_losses"].as_array().unwrap();
    let loss = |at: usize| losses[at].as_f64().unwrap();
    assert!(loss(losses.len() - 1) < loss(0) - 0.2);

    for record in &records {
        let moved = number(record, "/parameter_change");
        if record["method"] == "inference" {
            assert_eq!(moved, 0.0);
            continue;
        }
        assert!(moved > 0.01, "{} moved by {moved}", record["method"]);
        assert!(
            number(record, "/risk/all") < untrained - 0.2,
            "{}",
            record["method"]
        );
        // Theorem 1 and the definition of the mean, on what was written.
        let old = number(record, "/nce1_old") + number(record, "/nce2_old");
        assert!((number(record, "/risk/old") - old).abs() < 1e-5);
        let alpha = number(record, "/alpha");
        let all = (1.0 - alpha) * number(record, "/risk/old") + alpha * number(record, "/risk/new");
        assert!((number(record, "/risk/all") - all).abs() < 1e-9);
    }
    // The exact correction does not end above where it started.
    let corrected = of("icl-corrected");
    assert!(number(corrected, "/risk/all") < number(corrected, "/start/all") + 0.01);
}

#[test]
fn a_seed_gives_one_record_apart_from_timings() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--seed", "3", "--epochs", "4", "--split", "size"];
    let [first, again] = ["a", "b"].map(|out| run(&folder.path().join(out), &options));
    let text = |records: &[Value]| -> Vec<String> {
        records
            .iter()
            .map(|record| timeless(record).to_string())
            .collect()
    };
    assert_eq!(text(&first), text(&again));
    // The resolved configuration is one that gives the same record again.
    let config = folder.path().join("a/config.toml");
    let config = config.to_str().unwrap();
    let third = run(&folder.path().join("c"), &["--config", config]);
    assert_eq!(text(&first), text(&third));
}
