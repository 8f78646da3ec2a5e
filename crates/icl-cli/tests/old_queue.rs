//! A queue of old noise, from outside.

use std::fs;

use crate::support::{icl, keys, names, number, records, split, text, timeless};
use serde_json::Value;
use tempfile::tempdir;

const RUN: &str = "run --seed 0 --epochs 6 --stop never --evaluate-every 2 --method retraining \
                   --method icl-corrected-wo-lrl --method icl-corrected-wo-m-lrl";

#[test]
fn methods_of_equation_9_have_it_and_others_stay_as_they_are() {
    let at = tempdir().unwrap();
    let run = |options: &str, out: &str| {
        icl(at.path(), &split(&format!("{RUN} {options} --out {out}"))).succeeded();
        records(&at.path().join(out))
    };
    fs::write(at.path().join("c.toml"), "old_queue = 64\n").unwrap();
    let (with, without) = (run("--old-queue 64", "with"), run("", "without"));
    run("--config c.toml", "file");
    let of = |out: &str| timeless(&at.path().join(out));
    assert_eq!(of("with"), of("file"));
    let config = fs::read_to_string(at.path().join("with/config.toml")).unwrap();
    assert!(config.contains("old-queue = 64"), "{config}");

    assert_eq!(of("with")[0], of("without")[0]);
    let biases = |record: &Value| -> Vec<Value> {
        let evaluations = record["evaluations"].as_array().unwrap().iter();
        evaluations
            .filter_map(|e| e.get("old_queue").cloned())
            .collect()
    };
    assert!(without.iter().all(|record| biases(record).is_empty()));
    assert!(biases(&with[0]).is_empty());
    for record in &with[1..] {
        let biases = biases(record);
        // Before the first step there was nothing in it.
        assert_eq!(biases.len(), 3);
        for bias in biases {
            assert_eq!(number(&bias, "n_entries"), 64.0);
            let documented = ["age_nats", "n_entries", "statistics_nats"];
            assert!(keys(&bias).iter().eq(documented), "{bias}");
            let is_meta = text(record, "method") == "icl-corrected-wo-lrl";
            assert_eq!(bias["statistics_nats"].is_number(), is_meta);
        }
    }
    // 94 old and 94 new graphs: 6 steps of 16 or fewer anchors, support and query each half old. The
    // queue is full after two steps of 32; the queries of the other 34 save 16 graphs, in two views.
    let passes = |records: &[Value], at: usize| number(&records[at], "sample_passes");
    assert_eq!(passes(&without, 1) - passes(&with, 1), 34.0 * 16.0 * 2.0);
    assert_eq!(passes(&without, 2), passes(&with, 2));
}

#[test]
fn a_queue_that_nothing_would_use_is_an_error() {
    let at = tempdir().unwrap();
    let known = "icl-published, icl-published-wo-lrl, icl-published-wo-m, icl-published-wo-m-lrl, \
                 icl-corrected, icl-corrected-wo-lrl, icl-corrected-wo-m, icl-corrected-wo-m-lrl";
    let message = format!(
        "old-queue: found 64 and no method that separates old from new noise, expected one of {known}"
    );
    for methods in [
        "--method warm",
        "--method icl --method retraining",
        "--method inference",
    ] {
        let line = format!("run {methods} --old-queue 64 --out out");
        icl(at.path(), &split(&line)).rejected(&message);
    }
    for n in ["0", "1"] {
        let line = format!("run --method icl-corrected --old-queue {n} --out out");
        icl(at.path(), &split(&line))
            .rejected(&format!("old-queue: found {n}, expected at least 2"));
    }
    icl(at.path(), &split("run --old-queue many")).rejected_at_length("invalid value 'many'");
    assert!(names(at.path()).is_empty());
}
