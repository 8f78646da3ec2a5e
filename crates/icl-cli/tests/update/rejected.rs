//! Options, encoders and data that `icl update` rejects.

use std::fs;

use super::{DATA, toys, update};
use crate::support::toys::{NEW, Toys};
use crate::support::{contents, icl, names, split};
use tempfile::tempdir;

#[test]
fn what_it_rejects() {
    let at = toys();
    Toys { n_labels: 4, ..NEW }.write(at.path(), "MORE");
    Toys { n_labels: 0, ..NEW }.write(at.path(), "BARE");
    Toys { n: 1, ..NEW }.write(at.path(), "ONE");
    fs::write(at.path().join("no.safetensors"), "not an encoder").unwrap();
    fs::write(at.path().join("c.toml"), "old = \"OLD\"\nalpha = 0.5\n").unwrap();
    let before = (names(at.path()), contents(&at.path().join("first")));
    let from = "--from first/encoder.safetensors";
    for (options, message) in [
        (
            format!("{DATA} --method no-such --out out"),
            "method: found \"no-such\", expected one of inference, ",
        ),
        (
            "--from no-such.safetensors --old OLD --new NEW --out out".into(),
            "no-such.safetensors: found no readable file",
        ),
        (
            "--from no.safetensors --old OLD --new NEW --out out".into(),
            "no.safetensors: found ",
        ),
        (
            format!("{from} --old no-such --new NEW --out out"),
            "no-such: found no such file or folder",
        ),
        (
            format!("{from} --old OLD --new no-such --out out"),
            "no-such: found no such file or folder",
        ),
        (
            format!("{from} --old MUTAG --new MUTAG --out out"),
            "data sets \"OLD\" and \"MUTAG\": found node label 3 only in the second",
        ),
        (
            format!("{from} --old OLD --new MORE --out out"),
            "found node label 3 only in the second",
        ),
        (
            format!("{from} --old OLD --new BARE --out out"),
            "found node features of widths 3 and 5",
        ),
        (
            format!("{from} --old OLD --new ONE --out out"),
            "\"ONE\": found 1 graph",
        ),
        (
            format!("{DATA} --out first"),
            "out: found first, which holds the input --from first/encoder.safetensors",
        ),
        (
            format!("{DATA} --out first --force"),
            "out: found first, which holds the input --from",
        ),
        (
            format!("{DATA} --out OLD"),
            "out: found OLD, which is the input --old OLD",
        ),
        (
            format!("{DATA} --out no.safetensors"),
            "out: found a file at no.safetensors",
        ),
        (
            format!("{DATA} --out out --epochs 0"),
            "epochs: found 0, expected at least 1",
        ),
        (
            format!("{DATA} --out out --support-learning-rate 0"),
            "support-learning-rate: found 0, expected a number above 0",
        ),
        (
            format!("{DATA} --out out --replay-size 0"),
            "replay-size: found 0, expected at least 1",
        ),
        (
            format!("{DATA} --out out --backend abacus"),
            "backend: found \"abacus\"",
        ),
        (
            "--resume no-such".into(),
            "resume: found no interrupted work in no-such",
        ),
    ] {
        update(at.path(), &options).rejected(message);
    }
    for (options, message) in [
        (
            format!("--config c.toml {DATA} --out out"),
            "c.toml, line 2, column 1: found the key \"alpha\", expected an option of `icl update`",
        ),
        (DATA.into(), "--out <DIR>"),
        (
            "--old OLD --new NEW --out out".into(),
            "--from <ENCODER.safetensors>",
        ),
        (format!("{from} --old OLD --out out"), "--new <DATA>"),
        ("--resume out --old OLD".into(), "cannot be used with"),
        (
            format!("{DATA} --out out --meta-order third"),
            "[possible values: first, second]",
        ),
    ] {
        update(at.path(), &options).rejected_at_length(message);
    }
    let after = (names(at.path()), contents(&at.path().join("first")));
    assert!(before == after, "{:?}", after.0);
}

/// A data set without a name of its own.
#[test]
fn empty_names_are_rejected() {
    let at = tempdir().unwrap();
    let line = split("update --from e.safetensors --new NEW --out out --old");
    let mut arguments = line.clone();
    arguments.push("");
    icl(at.path(), &arguments).rejected_at_length("--old <DATA>");
    assert!(names(at.path()).is_empty());
}
