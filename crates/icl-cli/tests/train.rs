//! `icl train`: what it writes, what it rejects, and that it continues after an interruption.

use std::fs;
use std::path::Path;

use crate::support::toys::{NEW, OLD, Toys};
use crate::support::{
    assert_documented, contents, default_backend, icl, names, number, record, split, text,
    timeless_record, work,
};
use tempfile::{TempDir, tempdir};

/// A folder with the data `OLD`.
fn toys() -> TempDir {
    let at = tempdir().unwrap();
    OLD.write(at.path(), "OLD");
    at
}

fn train(at: &Path, options: &str) -> crate::support::Ran {
    icl(at, &split(&format!("train {options}")))
}

#[test]
fn it_makes_an_encoder() {
    let at = toys();
    let ran = train(at.path(), "--data OLD --seed 3 --epochs 60 --out out").succeeded();
    let out = at.path().join("out");
    assert_eq!(
        names(&out),
        ["config.toml", "encoder.safetensors", "record.json"]
    );
    let record = record(&out);
    assert_eq!(text(&record, "data"), "OLD");
    assert_eq!((number(&record, "n"), number(&record, "seed")), (55.0, 3.0));
    // The contents of 5 of 60 graphs hold them out.
    assert_eq!(number(&record, "n_held_out"), 5.0);
    let held_out = ["all", "old"].map(|part| number(&record, &format!("held_out_risk.{part}")));
    assert!(held_out[0] > 0.0 && held_out[0] == held_out[1]);
    assert!(record["held_out_risk"]["new"].is_null());
    let [untrained, trained] = ["untrained", "trained"].map(|key| number(&record, key));
    assert!(trained < untrained - 0.1, "{untrained} to {trained}");
    assert!(number(&record, "parameter_change") > 0.01);

    // Its numbers fit together.
    let evaluations = record["evaluations"].as_array().unwrap();
    assert_eq!(evaluations[0]["risk"], record["untrained"]);
    let last = &evaluations[evaluations.len() - 1];
    let best = &evaluations[number(&record, "best_evaluation") as usize];
    assert_eq!(best["risk"], record["trained"]);
    assert_eq!(last["epoch"], record["epochs"]);
    assert_eq!(last["sample_passes"], record["sample_passes"]);
    assert_eq!(last["train_s"], record["train_s"]);
    let epochs = number(&record, "epochs");
    assert_eq!(number(&record, "sample_passes"), 2.0 * 55.0 * epochs);
    let losses = record["epoch_losses"].as_array().unwrap();
    assert_eq!(losses.len() as f64, epochs);

    // And with the table.
    let row = ran
        .stdout
        .lines()
        .find(|line| line.starts_with("OLD "))
        .unwrap();
    let row: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(
        row,
        ["OLD", &format!("{untrained:.3}"), &format!("{trained:.3}")]
    );
    assert!(
        ran.stdout.ends_with("\n\nwritten to out\n"),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

#[test]
fn one_seed_gives_one_encoder() {
    let at = tempdir().unwrap();
    train(at.path(), "--data MUTAG --seed 2 --epochs 4 --out one").succeeded();
    icl(
        at.path(),
        &split("train --data MUTAG --seed 2 --epochs 4 --out two"),
    )
    .succeeded();
    let [one, two] = ["one", "two"].map(|out| at.path().join(out));
    assert_eq!(timeless_record(&one), timeless_record(&two));
    let encoder = |of: &Path| contents(of)["encoder.safetensors"].clone();
    assert!(encoder(&one) == encoder(&two));
    train(at.path(), "--data MUTAG --seed 3 --epochs 4 --out three").succeeded();
    let three = at.path().join("three");
    assert!(encoder(&one) != encoder(&three));
    assert_ne!(record(&one)["untrained"], record(&three)["untrained"]);
}

#[test]
fn its_configuration_gives_the_encoder_again() {
    let at = toys();
    let options = "--data OLD --seed 5 --epochs 7 --batch-size 16 --optimizer sgd \
                   --learning-rate 0.01 --temperature 0.2 --k 15 --stop training-loss \
                   --evaluate-every 2 --average-decay 0.5";
    train(at.path(), &format!("{options} --out a")).succeeded();
    train(at.path(), "--config a/config.toml --out b").succeeded();
    let [a, b] = ["a", "b"].map(|out| at.path().join(out));
    assert_eq!(timeless_record(&a), timeless_record(&b));
    let [a, b] = [a, b].map(|out| contents(&out));
    assert!(a["encoder.safetensors"] == b["encoder.safetensors"]);
    let config = |of: &[u8]| String::from_utf8(of.to_vec()).unwrap();
    let config_of_a = config(&a["config.toml"]).replace("out = \"a\"", "out = \"b\"");
    assert_eq!(config_of_a, config(&b["config.toml"]));
    for line in [
        "seed = 5",
        "batch-size = 16",
        "negatives = 15.0",
        "patience = 50",
        &format!("backend = \"{}\"", default_backend()),
    ] {
        assert!(
            config_of_a.contains(line),
            "{line} is missing in\n{config_of_a}"
        );
    }
    // Flags win; names may be written in other ways; force is a flag.
    fs::write(
        at.path().join("c.toml"),
        "data = \"OLD\"\nK = 8\nbatch_size = 4\nepochs = 9\n",
    )
    .unwrap();
    train(at.path(), "--config c.toml --epochs 1 --out a --force").succeeded();
    let again = record(&at.path().join("a"));
    assert_eq!(
        (number(&again, "epochs"), number(&again, "negatives")),
        (1.0, 8.0)
    );
}

/// The number of events in a file, by the lengths of its records.
fn n_events(file: &[u8]) -> usize {
    let (mut at, mut n) = (0, 0);
    while at < file.len() {
        let length = u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
        at += 8 + 4 + length as usize + 4;
        n += 1;
    }
    assert_eq!(at, file.len());
    n
}

#[test]
fn events_hold_what_the_record_does() {
    const EVENTS: &str = "events.out.tfevents.0.icl";
    let at = toys();
    train(at.path(), "--data OLD --epochs 3 --tensorboard --out out").succeeded();
    let out = at.path().join("out");
    assert_eq!(
        names(&out),
        ["config.toml", "encoder.safetensors", EVENTS, "record.json"]
    );
    let of_record = record(&out);
    let length = |key: &str| of_record[key].as_array().unwrap().len();
    let expected = 1 + length("evaluations") + length("epoch_losses") + length("step_negatives");
    let events = contents(&out)[EVENTS].clone();
    assert_eq!(n_events(&events), expected);
    // The configuration asks for them again, and they are the same.
    train(at.path(), "--config out/config.toml --out again").succeeded();
    assert!(contents(&at.path().join("again"))[EVENTS] == events);
    // An update has them too, and a folder with them may be replaced.
    NEW.write(at.path(), "NEW");
    let update =
        "update --from out/encoder.safetensors --old OLD --new NEW --epochs 2 --out updated";
    let asked = format!("{update} --tensorboard");
    icl(at.path(), &split(&asked)).succeeded();
    let updated = at.path().join("updated");
    let of_update = record(&updated);
    let n = |key: &str| of_update[key].as_array().unwrap().len();
    let expected = [
        "epoch_losses",
        "step_negatives",
        "learning_rates",
        "support_learning_rates",
        "old_fractions",
    ];
    let expected: usize = expected.map(n).iter().sum();
    assert_eq!(
        n_events(&contents(&updated)[EVENTS]),
        1 + 5 * n("evaluations") + expected
    );
    icl(at.path(), &split(&format!("{update} --force"))).succeeded();
    assert!(!updated.join(EVENTS).exists());
}

#[test]
fn the_record_holds_what_the_book_says() {
    let at = toys();
    train(at.path(), "--data OLD --epochs 1 --out out").succeeded();
    let record = record(&at.path().join("out"));
    assert_documented(&record, "train", "seconds");
    assert_eq!(record["schema"], 2);
}

#[test]
fn what_it_rejects() {
    let at = toys();
    Toys { n: 1, ..OLD }.write(at.path(), "ONE");
    fs::create_dir(at.path().join("there")).unwrap();
    fs::write(at.path().join("there/notes.txt"), "theirs").unwrap();
    fs::write(
        at.path().join("c.toml"),
        "data = \"OLD\"\nepochs = 1\n\nmethod = \"warm\"\n",
    )
    .unwrap();
    let before = names(at.path());
    for (options, message) in [
        (
            "--data no-such --out out",
            "no-such: found no such file or folder",
        ),
        ("--data ONE --out out", "data set \"ONE\": "),
        ("--data OLD --out there", "out: found files in there"),
        ("--data OLD --out c.toml", "out: found a file at c.toml"),
        (
            "--data OLD --out out --epochs 0",
            "epochs: found 0, expected at least 1",
        ),
        (
            "--data OLD --out out --learning-rate nan",
            "learning-rate: found NaN, expected a number above 0",
        ),
        (
            "--data OLD --out out --backend abacus",
            "backend: found \"abacus\"",
        ),
        (
            "--config no-such.toml --out out",
            "no-such.toml: found no readable file",
        ),
        (
            "--resume no-such",
            "resume: found no interrupted work in no-such",
        ),
        (
            "--resume there",
            "resume: found no interrupted work in there",
        ),
    ] {
        train(at.path(), options).rejected(message);
    }
    for (options, message) in [
        ("--data OLD", "--out <DIR>"),
        ("--out out", "--data <DATA>"),
        (
            "--config c.toml --out out",
            "c.toml, line 4, column 1: found the key \"method\", expected an option of `icl train`",
        ),
        ("--resume there --out out", "cannot be used with"),
        (
            "--data OLD --out out --method warm",
            "unexpected argument '--method'",
        ),
        (
            "--data OLD --out out --stop now",
            "[possible values: doubling, slope, exact-risk, training-loss, never]",
        ),
    ] {
        train(at.path(), options).rejected_at_length(message);
    }
    assert_eq!(names(at.path()), before);
    assert_eq!(names(&at.path().join("there")), ["notes.txt"]);
}

#[test]
fn a_training_that_fails_leaves_nothing() {
    let at = toys();
    let ran = train(
        at.path(),
        "--data OLD --out a/b --encoder gin --optimizer sgd --learning-rate 1e4 --temperature 1e-4 --epochs 100 \
         --stop never",
    );
    ran.rejected_in_last_line(
        "; it depends on learning-rate 10000, temperature 0.0001, negatives 31",
    );
    assert_eq!(names(at.path()), ["OLD"]);
}

/// A command that trains for a number of epochs.
#[cfg(unix)]
fn training(n_epochs: usize, out: &str) -> String {
    format!("train --data OLD --seed 1 --epochs {n_epochs} --stop never --out {out}")
}

/// Checks that the folder `out` holds the results of a run without interruption.
#[cfg(unix)]
#[track_caller]
fn is_whole(at: &Path, out: &str) {
    let [whole, out] = ["whole", out].map(|out| at.join(out));
    assert_eq!(
        names(&out),
        ["config.toml", "encoder.safetensors", "record.json"]
    );
    assert_eq!(timeless_record(&out), timeless_record(&whole));
    assert!(contents(&out)["encoder.safetensors"] == contents(&whole)["encoder.safetensors"]);
}

#[cfg(unix)]
#[test]
fn it_goes_on_after_an_interruption() {
    use crate::support::stopped::{begin, epochs_of_some_seconds, interrupt, kill};

    let at = toys();
    let n_epochs = epochs_of_some_seconds(&at.path().join("whole"), |n_epochs| {
        icl(at.path(), &split(&training(n_epochs, "whole")))
    });
    // At once, and when a state has been saved.
    for (out, name) in [("soon", "config.toml"), ("late", "training.checkpoint")] {
        let ran = interrupt(begin(at.path(), &training(n_epochs, out), out, name));
        assert_eq!(ran.code, Some(130), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
        let last = ran.stderr.lines().last().unwrap();
        assert!(
            last.starts_with("interrupted: stopped after step "),
            "{last}"
        );
        assert!(
            last.ends_with(&format!("`icl train --resume {out}` continues it")),
            "{last}"
        );
        assert!(
            ran.stderr
                .contains("finishing this step; Ctrl-C again quits now\n"),
            "{}",
            ran.stderr
        );
        assert!(!at.path().join(out).exists());
        // Nobody else may take the folder.
        train(at.path(), &format!("--data OLD --out {out}"))
            .rejected(&format!("out: found interrupted work in {out}"));
        icl(at.path(), &split(&format!("update --resume {out}")))
            .rejected("found the key \"data\", expected an option of `icl update`");
        let ran = train(at.path(), &format!("--resume {out}")).succeeded();
        assert!(
            ran.stdout.ends_with(&format!("\nwritten to {out}\n")),
            "{}",
            ran.stdout
        );
        is_whole(at.path(), out);
        let again = train(at.path(), &format!("--resume {out}")).succeeded();
        assert_eq!(again.stdout, format!("already complete: {out}\n"));
    }
    // Killed more than once.
    kill(begin(
        at.path(),
        &training(n_epochs, "killed"),
        "killed",
        "config.toml",
    ));
    kill(begin(
        at.path(),
        "train --resume killed",
        "killed",
        "training.checkpoint",
    ));
    assert!(!at.path().join("killed").exists());
    train(at.path(), "--resume killed").succeeded();
    is_whole(at.path(), "killed");
}

#[cfg(unix)]
#[test]
fn it_goes_on_with_the_same_data_only() {
    use crate::support::stopped::{begin, interrupt};

    let at = toys();
    let child = begin(
        at.path(),
        &training(1_000_000, "out"),
        "out",
        "training.input",
    );
    assert_eq!(interrupt(child).code, Some(130));
    let before = contents(&work(&at.path().join("out")));
    Toys { n: 59, ..OLD }.write(at.path(), "OLD");
    let ran = train(at.path(), "--resume out");
    ran.rejected("checksum of the data is ");
    fs::remove_dir_all(at.path().join("OLD")).unwrap();
    train(at.path(), "--resume out").rejected("OLD: found no such file or folder");
    assert_eq!(contents(&work(&at.path().join("out"))), before);

    // A state that is cut in half says so, and is not touched.
    OLD.write(at.path(), "OLD");
    let state = work(&at.path().join("out")).join("training.checkpoint");
    let bytes = fs::read(&state).unwrap();
    fs::write(&state, &bytes[..bytes.len() / 2]).unwrap();
    train(at.path(), "--resume out").rejected("training.checkpoint: found ");
    assert_eq!(fs::read(&state).unwrap().len(), bytes.len() / 2);
}
