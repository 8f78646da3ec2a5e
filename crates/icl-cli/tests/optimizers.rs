//! The optimizer of a training and its settings, from outside.

use std::fs;

use crate::support::toys::{NEW, OLD};
use crate::support::{icl, names, record, split, timeless_record};
use tempfile::tempdir;

#[test]
fn options_of_the_optimizer_reach_the_run() {
    let at = tempdir().unwrap();
    OLD.write(at.path(), "OLD");
    NEW.write(at.path(), "NEW");
    let run = |line: &str| icl(at.path(), &split(line)).succeeded();
    run("train --data OLD --epochs 3 --stop never --optimizer muon --weight-decay 0.1 --out a");
    let update = "update --from a/encoder.safetensors --old OLD --new NEW --epochs 4 --stop never --budget none";
    for (options, out) in [
        ("--optimizer adam", "adam"),
        ("--optimizer adamw", "adamw"),
        ("--optimizer adamw --weight-decay 5", "decay"),
        ("--clip-norm 1e-3 --optimizer sgd", "clip"),
        ("--optimizer sgd", "sgd"),
        ("--optimizer muon --warm-up 1000", "warm"),
    ] {
        run(&format!("{update} {options} --out {out}"));
    }
    let config = |out: &str| fs::read_to_string(at.path().join(out).join("config.toml")).unwrap();
    for (out, line) in [
        ("a", "optimizer = \"muon\""),
        ("a", "weight-decay = 0.1"),
        ("adam", "warm-up = 0"),
        ("decay", "weight-decay = 5.0"),
        ("clip", "clip-norm = 0.001"),
        ("warm", "warm-up = 1000"),
    ] {
        let config = config(out);
        assert!(config.lines().any(|own| own == line), "{line}: {config}");
    }
    assert!(!config("adam").contains("clip-norm"));
    // Each option changes the result, and the resolved file gives it again.
    let change = |out: &str| record(&at.path().join(out))["parameter_change"].clone();
    let all = ["adam", "adamw", "decay", "clip", "sgd", "warm"].map(change);
    for (at, one) in all.iter().enumerate() {
        assert!(!all[..at].contains(one), "{all:?}");
    }
    run("update --config decay/config.toml --out again");
    let [first, again] = ["decay", "again"].map(|out| timeless_record(&at.path().join(out)));
    assert_eq!(first["parameter_change"], again["parameter_change"]);
    // The applied rates are recorded.
    let rates = record(&at.path().join("warm"))["learning_rates"].clone();
    let rates = rates.as_array().unwrap().iter();
    let rates: Vec<f64> = rates.map(|rate| rate.as_f64().unwrap()).collect();
    assert_eq!(rates.len(), 4);
    let rises = rates.windows(2).all(|pair| pair[0] < pair[1]);
    assert!(rises && rates[3] < 3e-3, "{rates:?}");
}

#[test]
fn settings_that_an_optimizer_does_not_have_are_refused() {
    let at = tempdir().unwrap();
    let of_adam = "weight-decay: found 0.1 with the optimizer adam, expected adamw, or another rule with weight decay";
    for command in [
        "train --data OLD --out o",
        "update --from a --old OLD --new NEW --out o",
        "run --out o",
        "stream --data OLD --split data:3 --out o",
        "compare-backends --out o",
    ] {
        let line = format!("{command} --optimizer adam --weight-decay 0.1");
        icl(at.path(), &split(&line)).rejected(of_adam);
    }
    for (options, message) in [
        (
            "--optimizer adamw --weight-decay -1",
            "weight-decay: found -1, expected a number of at least 0",
        ),
        (
            "--clip-norm 0",
            "clip-norm: found 0, expected a number above 0",
        ),
        (
            "--clip-norm nan",
            "clip-norm: found NaN, expected a number above 0",
        ),
    ] {
        icl(at.path(), &split(&format!("run {options}"))).rejected(message);
    }
    for (options, message) in [
        ("--weight-decay 1e3", "expected a number from 1e-12 to 1e2"),
        ("--warm-up -1", "expected a whole number from 0 to 1000000"),
        ("--optimizer rmsprop", "adam, adamw, muon, sgd, lars"),
    ] {
        icl(at.path(), &split(&format!("run {options}"))).rejected_at_length(message);
    }
    assert!(names(at.path()).is_empty());
}
