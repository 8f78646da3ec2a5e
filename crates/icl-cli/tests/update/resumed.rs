//! Updates that are interrupted and go on.

use std::fs;
use std::path::Path;

use super::{FILES, toys, update};
use crate::support::stopped::{begin, epochs_of_some_seconds, interrupt, kill};
use crate::support::toys::{NEW, OLD, Toys};
use crate::support::{contents, icl, names, split, timeless_record, work};

/// A command that updates an encoder by a method for a number of epochs.
fn updating(method: &str, n_epochs: usize, out: &str) -> String {
    format!(
        "update --from first/encoder.safetensors --old OLD --new NEW --seed 1 --stop never --budget none --method {method} \
         --epochs {n_epochs} --out {out}"
    )
}

/// Runs it without interruption for some seconds, with results in `whole`; the number of epochs that this takes.
fn undisturbed(at: &Path, method: &str) -> usize {
    epochs_of_some_seconds(&at.join("whole"), |n_epochs| {
        icl(at, &split(&updating(method, n_epochs, "whole")))
    })
}

/// Checks that the folder `out` holds the results of the update without interruption.
#[track_caller]
fn is_whole(at: &Path, out: &str) {
    let [whole, out] = ["whole", out].map(|out| at.join(out));
    assert_eq!(names(&out), FILES);
    assert_eq!(timeless_record(&out), timeless_record(&whole));
    assert!(contents(&out)["encoder.safetensors"] == contents(&whole)["encoder.safetensors"]);
}

#[test]
fn it_goes_on_after_an_interruption() {
    let at = toys();
    let n_epochs = undisturbed(at.path(), "icl");
    for (out, name) in [("soon", "config.toml"), ("late", "training.checkpoint")] {
        let ran = interrupt(begin(at.path(), &updating("icl", n_epochs, out), out, name));
        assert_eq!(ran.code, Some(130), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
        let last = ran.stderr.lines().last().unwrap();
        assert!(
            last.ends_with(&format!("`icl update --resume {out}` continues it")),
            "{last}"
        );
        assert!(!at.path().join(out).exists());
        let ran = update(at.path(), &format!("--resume {out}")).succeeded();
        assert!(
            ran.stdout.ends_with(&format!("\nwritten to {out}\n")),
            "{}",
            ran.stdout
        );
        is_whole(at.path(), out);
    }
    kill(begin(
        at.path(),
        &updating("icl", n_epochs, "killed"),
        "killed",
        "config.toml",
    ));
    kill(begin(
        at.path(),
        "update --resume killed",
        "killed",
        "training.checkpoint",
    ));
    update(at.path(), "--resume killed").succeeded();
    is_whole(at.path(), "killed");
}

/// Retraining begins with an encoder of its own, and is measured against the one that came in.
#[test]
fn it_goes_on_with_the_same_input_only() {
    let at = toys();
    let n_epochs = undisturbed(at.path(), "retraining");
    let child = begin(
        at.path(),
        &updating("retraining", n_epochs, "out"),
        "out",
        "training.input",
    );
    assert_eq!(interrupt(child).code, Some(130));
    let before = contents(&work(&at.path().join("out")));

    Toys { n: 41, ..NEW }.write(at.path(), "NEW");
    update(at.path(), "--resume out").rejected("checksum of the new data is ");
    NEW.write(at.path(), "NEW");
    Toys { size: 6, ..OLD }.write(at.path(), "OLD");
    update(at.path(), "--resume out").rejected("checksum of the old data is ");
    OLD.write(at.path(), "OLD");
    let from = at.path().join("first/encoder.safetensors");
    let encoder = fs::read(&from).unwrap();
    icl(
        at.path(),
        &split("train --data OLD --seed 4 --epochs 1 --out first --force"),
    )
    .succeeded();
    update(at.path(), "--resume out").rejected("checksum of the encoder is ");
    fs::write(&from, encoder).unwrap();

    assert_eq!(contents(&work(&at.path().join("out"))), before);
    update(at.path(), "--resume out").succeeded();
    is_whole(at.path(), "out");
}
