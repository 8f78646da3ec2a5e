//! Updates that are interrupted and go on.

use std::fs;
use std::path::Path;

use super::{FILES, toys, update};
use crate::support::toys::{NEW, OLD, Toys};
use crate::support::{contents, icl, names, split, timeless_record};

/// Some seconds of training.
const LONG: &str = "update --from first/encoder.safetensors --old OLD --new NEW --seed 1 \
                    --epochs 1500 --stop never";

/// Checks that the folder `out` holds the results of an update without interruption, those in `whole`.
#[track_caller]
fn is_whole(at: &Path, whole: &str, out: &str) {
    let [whole, out] = [whole, out].map(|out| at.join(out));
    assert_eq!(names(&out), FILES);
    assert_eq!(timeless_record(&out), timeless_record(&whole));
    assert!(contents(&out)["encoder.safetensors"] == contents(&whole)["encoder.safetensors"]);
}

#[test]
fn it_goes_on_after_an_interruption() {
    use crate::support::stopped::{begin, interrupt, kill};

    let at = toys();
    icl(at.path(), &split(&format!("{LONG} --out whole"))).succeeded();
    for (out, name) in [("soon", "config.toml"), ("late", "training.checkpoint")] {
        let ran = interrupt(begin(at.path(), &format!("{LONG} --out {out}"), out, name));
        assert_eq!(ran.code, Some(130), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
        let last = ran.stderr.lines().last().unwrap();
        assert!(
            last.ends_with(&format!("`icl update --resume {out}` continues it")),
            "{last}"
        );
        assert_eq!(names(&at.path().join(out)), [".checkpoint"]);
        let ran = update(at.path(), &format!("--resume {out}")).succeeded();
        assert!(
            ran.stdout.ends_with(&format!("\nwritten to {out}\n")),
            "{}",
            ran.stdout
        );
        is_whole(at.path(), "whole", out);
    }
    kill(begin(
        at.path(),
        &format!("{LONG} --out killed"),
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
    is_whole(at.path(), "whole", "killed");
}

/// Retraining begins with an encoder of its own, and is measured against the one that came in.
#[test]
fn it_goes_on_with_the_same_input_only() {
    use crate::support::stopped::{begin, interrupt};

    let at = toys();
    let line = format!("{LONG} --method retraining");
    icl(at.path(), &split(&format!("{line} --out whole"))).succeeded();
    let child = begin(
        at.path(),
        &format!("{line} --out out"),
        "out",
        "training.input",
    );
    assert_eq!(interrupt(child).code, Some(130));
    let before = contents(&at.path().join("out/.checkpoint"));

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

    assert_eq!(contents(&at.path().join("out/.checkpoint")), before);
    update(at.path(), "--resume out").succeeded();
    is_whole(at.path(), "whole", "out");
}
