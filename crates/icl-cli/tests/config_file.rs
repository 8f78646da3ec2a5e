//! The TOML file of `icl run`: what it may hold, and what wins over it.

use std::fs;
use std::path::Path;

use crate::support::{Ran, icl, names, number, records, split, text};
use tempfile::tempdir;

/// Runs with a file of these contents, and these flags.
fn with(at: &Path, contents: impl AsRef<[u8]>, flags: &str) -> Ran {
    fs::write(at.join("c.toml"), contents).unwrap();
    icl(at, &split(&format!("run --config c.toml {flags}")))
}

#[test]
fn keys_are_read_and_flags_win() {
    let at = tempdir().unwrap();
    let file = "method = [\"inference\", \"warm\"]\nalpha = 0.25\nseeds = 1\nepochs = 2\n";
    with(at.path(), file, "--out as-it-is").succeeded();
    let found = records(&at.path().join("as-it-is"));
    assert_eq!(found.len(), 2);
    assert_eq!(number(&found[1], "epochs"), 2.0);
    // Of 47, a tenth is held out.
    assert_eq!(number(&found[1], "n_new"), 42.0);

    let flags = "--method fine-tuning --alpha 0.75 --seed 5 --epochs 1 --out flags";
    with(at.path(), file, flags).succeeded();
    let found = records(&at.path().join("flags"));
    assert_eq!(found.len(), 1);
    assert_eq!(text(&found[0], "method"), "fine-tuning");
    assert_eq!(number(&found[0], "epochs"), 1.0);
    assert_eq!(number(&found[0], "seed"), 5.0);
    assert_eq!(number(&found[0], "n_new"), 127.0);
}

#[test]
fn either_form_of_seeds_replaces_the_other() {
    let at = tempdir().unwrap();
    for (file, flags, seeds) in [
        ("seed = 9", "--seeds 2", vec![0.0, 1.0]),
        ("seeds = 2", "--seed 9", vec![9.0]),
        ("seed = 9", "", vec![9.0]),
    ] {
        let flags = format!("{flags} --epochs 1 --method inference --out out --force");
        with(at.path(), file, &flags).succeeded();
        let found: Vec<f64> = records(&at.path().join("out"))
            .iter()
            .map(|record| number(record, "seed"))
            .collect();
        assert_eq!(found, seeds);
    }
}

#[test]
fn names_may_be_written_in_other_ways() {
    let at = tempdir().unwrap();
    let file = "methods = \"warm\"\nseed = 0\nepochs = 2\nbatch_size = 16\nlearning_rate = 1e-3\n\
                evaluate_every = 1\naverage_decay = 0\nK = 8\nalpha = 0.5\nout = \"out\"\n";
    with(at.path(), file, "").succeeded();
    let config = fs::read_to_string(at.path().join("out/config.toml")).unwrap();
    for line in [
        "method = \"warm\"",
        "batch-size = 16",
        "learning-rate = 0.001",
        "evaluate-every = 1",
        "average-decay = 0.0",
        "negatives = 8.0",
    ] {
        assert!(config.contains(line), "{line} is missing in\n{config}");
    }
    with(
        at.path(),
        "method = \"warm\"\nk = 3",
        "--seed 0 --epochs 1 --out k",
    )
    .succeeded();
    let config = fs::read_to_string(at.path().join("k/config.toml")).unwrap();
    assert!(config.contains("negatives = 3.0"));
}

#[test]
fn an_empty_file_is_the_default() {
    let at = tempdir().unwrap();
    with(at.path(), "", "--seed 0 --epochs 1 --method warm --out out").succeeded();
    assert_eq!(records(&at.path().join("out")).len(), 1);
}

/// Every error names the file, the line and the column.
#[test]
fn what_is_no_toml_or_no_option() {
    let at = tempdir().unwrap();
    let count = "expected a whole number, 0 or more";
    for (file, place, message) in [
        ("alpha = 0.5\nepochs = = 3\n", (2, 10), "extra `=`"),
        ("alpha = 0.5\nalpha = 0.6\n", (2, 1), "duplicate key"),
        (
            "alpha = 0.5\n\nepoch = 3\n",
            (3, 1),
            "found the key \"epoch\", expected an option of `icl run` (did you mean epochs?)",
        ),
        (
            "[run]\nalpha = 0.5\n",
            (1, 2),
            "found the key \"run\", expected an option of `icl run`",
        ),
        (
            "force = true\n",
            (1, 1),
            "found the key \"force\", expected it on the command line only",
        ),
        (
            "config = \"c.toml\"\n",
            (1, 1),
            "found the key \"config\", expected it on the command line only",
        ),
        (
            "alpha = \"half\"\n",
            (1, 9),
            "alpha: found \"half\", expected a number",
        ),
        (
            "epochs = 2.5\n",
            (1, 10),
            &format!("epochs: found 2.5, {count}"),
        ),
        (
            "epochs = -2\n",
            (1, 10),
            &format!("epochs: found -2, {count}"),
        ),
        (
            "seed = true\n",
            (1, 8),
            &format!("seed: found true, {count}"),
        ),
        (
            "method = 3\n",
            (1, 10),
            "method: found 3, expected a string or a list",
        ),
        (
            "method = [\"warm\", 3]\n",
            (1, 19),
            "method: found 3, expected a string",
        ),
        (
            "stop = \"now\"\n",
            (1, 8),
            "stop: found \"now\", expected one of doubling, slope, exact-risk, training-loss, never",
        ),
        (
            "optimizer = \"rmsprop\"\n",
            (1, 13),
            "optimizer: found \"rmsprop\", expected one of adam, adamw, muon, sgd, lars",
        ),
        (
            "split = \"odd\"\n",
            (1, 9),
            "split: found \"odd\", expected `random`, `size`, `class`",
        ),
        (
            "out = \"\"\n",
            (1, 7),
            "out: found nothing, expected a value",
        ),
        (
            "batch_size = 8\nbatch-size = 9\n",
            (2, 1),
            "found batch-size a second time, expected it once",
        ),
        (
            "seed = 1\nseeds = 2\n",
            (2, 1),
            "found both seed and seeds, expected one of them",
        ),
    ] {
        let ran = with(at.path(), file, "");
        let (line, column) = place;
        ran.rejected(message);
        let place = format!("error: c.toml, line {line}, column {column}: ");
        assert!(ran.stderr.starts_with(&place), "{}", ran.stderr);
    }
    assert_eq!(names(at.path()), ["c.toml"]);
}

#[test]
fn values_that_cannot_be() {
    let at = tempdir().unwrap();
    for (file, message) in [
        ("seeds = 0\n", "seeds: found 0, expected at least 1"),
        (
            "alpha = nan\n",
            "alpha: found NaN, expected a number from 0 to 1",
        ),
        (
            "alpha = 2\n",
            "alpha: found 2, expected a number from 0 to 1",
        ),
        (
            "batch-size = 2\n",
            "batch-size: found 2, expected at least 4",
        ),
        ("method = \"no-such\"\n", "method: found \"no-such\""),
        ("backend = \"abacus\"\n", "backend: found \"abacus\""),
        (
            "data = \"no-such\"\n",
            "no-such: found no such file or folder",
        ),
        ("data = \"\"\n", "data: found no name"),
        (
            "out = \"c.toml\"\n",
            "out: found c.toml, which is the input --config c.toml",
        ),
    ] {
        with(at.path(), file, "").rejected(message);
    }
    with(at.path(), b"\xff\xfe", "").rejected("c.toml: found no readable file");
    assert_eq!(names(at.path()), ["c.toml"]);
}

#[test]
fn files_that_cannot_be_read() {
    let at = tempdir().unwrap();
    for file in ["no-such.toml", "."] {
        let message = format!("{file}: found no readable file (");
        icl(at.path(), &["run", "--config", file]).rejected(&message);
    }
    assert!(names(at.path()).is_empty());
}
