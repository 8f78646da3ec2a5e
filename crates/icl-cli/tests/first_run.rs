//! The comparison that `icl` makes without arguments, on few samples and epochs.

use std::fs;

use crate::support::{icl, number, records, split, text};
use tempfile::tempdir;

#[test]
fn it_ends_in_an_answer_a_table_and_the_next_command() {
    let at = tempdir().unwrap();
    let line = "run --data digits --split class:0,1,2,3,4 --limit 200 --epochs 2 --evaluate-every 1 --stop never \
                --batch-size 32 --seed 0 --protocol few-labels --out out";
    let ran = icl(at.path(), &split(line)).succeeded();
    let out = at.path().join("out");
    let found = records(&out);
    let methods: Vec<&str> = found.iter().map(|record| text(record, "method")).collect();
    assert_eq!(
        methods,
        ["inference", "retraining", "warm", "fine-tuning", "icl"]
    );
    for record in &found {
        assert!(record["knn"].is_null() && record["linear_probe"].is_null());
        let few = &record["few_labels"];
        for value in [
            number(few, "accuracy.all"),
            number(few, "accuracy.old"),
            number(few, "floors.raw.all"),
            number(few, "floors.untrained.new"),
        ] {
            assert!((0.3..=1.0).contains(&value), "{few}");
        }
        assert!(number(record, "held_out_risk.new") > 0.0);
    }
    let shown = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "on held-out old and new data",
        "held-out risk,",
        "accuracy by the",
        "floor: raw features",
        "floor: untrained encoder",
        "Report: out/report.html",
        "icl train --data OLD_DATA --out first",
        "icl update --from first/encoder.safetensors --old OLD_DATA --new NEW_DATA --out second",
    ] {
        assert!(shown.contains(words), "{words} is missing in {shown}");
    }
    let report = fs::read_to_string(out.join("report.html")).unwrap();
    for words in [
        "exact risk over the new data, nats",
        "Where the time went",
        "All numbers",
    ] {
        assert!(report.contains(words), "{words}");
    }
}
