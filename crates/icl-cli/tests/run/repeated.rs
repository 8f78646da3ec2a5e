//! Runs that are repeated, by their seed and by their configuration.

use std::fs;
use std::path::Path;

use super::{run, safetensors};
use crate::support::{contents, default_backend, names, text, timeless};
use serde_json::Value;
use tempfile::tempdir;

#[test]
fn one_seed_gives_one_record() {
    let at = tempdir().unwrap();
    let options = "--seed 3 --epochs 3 --split size";
    for out in ["a", "b"] {
        run(at.path(), options, out);
    }
    let [a, b] = ["a", "b"].map(|out| at.path().join(out));
    assert_eq!(lines(&timeless(&a)), lines(&timeless(&b)));
    // Nothing in the map and in the encoders depends on time.
    let [a, b] = [a, b].map(|out| contents(&out));
    assert!(a["map.json"] == b["map.json"]);
    for (name, bytes) in a.iter().filter(|(name, _)| name.ends_with(".safetensors")) {
        assert!(
            safetensors(bytes) == safetensors(&b[name]),
            "{name} differs"
        );
    }
    run(at.path(), "--seed 4 --epochs 3 --split size", "c");
    assert_ne!(
        timeless(&at.path().join("c"))[1]["risk"],
        timeless(&at.path().join("a"))[1]["risk"]
    );
}

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

#[test]
fn its_configuration_gives_the_run_again() {
    let at = tempdir().unwrap();
    let options = "--seeds 2 --epochs 3 --method fine-tuning --method retraining --alpha 0.4 \
                   --split class --batch-size 16 --optimizer sgd --learning-rate 0.01 \
                   --temperature 0.2 --k 15 --stop training-loss --patience 7 --evaluate-every 2 \
                   --average-decay 0.5";
    run(at.path(), options, "a");
    run(at.path(), "--config a/config.toml", "b");
    let [a, b] = ["a", "b"].map(|out| at.path().join(out));
    assert_eq!(lines(&timeless(&a)), lines(&timeless(&b)));
    // The two differ in where they went, and in nothing else.
    let config = |of: &Path| fs::read_to_string(of.join("config.toml")).unwrap();
    assert_eq!(config(&a).replace("out = \"a\"", "out = \"b\""), config(&b));
    for line in [
        "data = \"MUTAG\"",
        "method = [\"retraining\", \"fine-tuning\"]",
        "alpha = 0.4",
        "split = \"class\"",
        "seeds = 2",
        "stop = \"training-loss\"",
        "patience = 7",
        "evaluate-every = 2",
    ] {
        assert!(config(&a).contains(line), "{line}");
    }
}

#[test]
fn every_default_is_in_the_configuration() {
    let at = tempdir().unwrap();
    run(at.path(), "--seed 0 --epochs 1 --method warm", "out");
    let config = fs::read_to_string(at.path().join("out/config.toml")).unwrap();
    for line in [
        "alpha = 0.5",
        "split = \"random\"",
        "batch-size = 32",
        "optimizer = \"muon\"",
        "learning-rate = 0.003",
        "temperature = 0.1",
        "negatives = 31.0",
        "stop = \"doubling\"",
        "min-gain = 0.005",
        "warm-up = 0",
        &format!("backend = \"{}\"", default_backend()),
    ] {
        assert!(config.contains(line), "{line} is missing in\n{config}");
    }
}

#[test]
fn seeds_run_from_0() {
    let at = tempdir().unwrap();
    let records = run(
        at.path(),
        "--seeds 3 --epochs 1 --method warm --method inference",
        "out",
    );
    let found: Vec<_> = records
        .iter()
        .map(|record| (record["seed"].as_u64().unwrap(), text(record, "method")))
        .collect();
    let expected = [0, 1, 2].map(|seed| [(seed, "inference"), (seed, "warm")]);
    assert_eq!(found, expected.concat());
    let encoders = names(&at.path().join("out"));
    for seed in 0..3 {
        assert!(encoders.contains(&format!("encoder-theta0-seed{seed}.safetensors")));
    }
    // A seed by itself is the same as among others.
    let alone = run(at.path(), "--seed 2 --epochs 1 --method warm", "alone");
    assert_eq!(alone[0]["risk"], records[5]["risk"]);
}
