//! No command writes over what it reads, whichever name that has.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::tempdir;

use crate::support::toys::{NEW, OLD};
use crate::support::{everything, icl, split};

/// Commands, each with one of its inputs as INPUT. The others need not be there: the check comes before everything.
const LINES: [(&str, &str); 25] = [
    ("run --data INPUT", "d.csv"),
    ("run --data INPUT", "old"),
    ("run --data images --weights INPUT", "w.pth"),
    ("run --config INPUT", "c.toml"),
    ("train --data INPUT", "d.csv"),
    ("train --data INPUT", "old"),
    ("train --data d.csv --weights INPUT", "w.pth"),
    ("update --from INPUT --old a --new b", "e.safetensors"),
    ("update --from e --old INPUT --new b", "d.csv"),
    ("update --from e --old a --new INPUT", "old"),
    ("stream --split data:3 --data INPUT", "d.csv"),
    ("stream --stream INPUT", "s.toml"),
    ("stream --watch INPUT", "old"),
    (
        "stream --split data:3 --data d.csv --from INPUT",
        "e.safetensors",
    ),
    ("split --data INPUT", "d.csv"),
    ("split --data INPUT", "old"),
    ("embed --data d.csv --from INPUT", "e.safetensors"),
    ("embed --data INPUT --from e.safetensors", "d.csv"),
    ("embed --data INPUT --from e.safetensors", "old"),
    ("align --from INPUT --to b.csv", "d.csv"),
    ("align --from a.csv --to INPUT", "d.csv"),
    ("align --from a.csv --map INPUT", "e.safetensors"),
    ("negatives --train-auc 0.9 --curve INPUT", "curve.txt"),
    ("compare-backends --data INPUT", "old"),
    ("compare-backends --data images --weights INPUT", "w.pth"),
];

#[test]
fn no_output_is_an_input() {
    let at = tempdir().unwrap();
    let at = at.path();
    OLD.write(at, "old");
    fs::create_dir_all(at.join("x")).unwrap();
    for file in [
        "d.csv",
        "w.pth",
        "c.toml",
        "e.safetensors",
        "s.toml",
        "curve.txt",
    ] {
        fs::write(at.join(file), "").unwrap();
        fs::hard_link(at.join(file), at.join("x").join(file)).unwrap();
    }
    symlink(at.join("old"), at.join("x/old")).unwrap();
    let before = everything(at);
    for (line, input) in LINES {
        let here = at.display();
        let mut outs = vec![
            input.to_owned(),
            format!("./x/../{input}"),
            format!("{here}/{input}"),
            // Another name: a hard link of a file, a symbolic one of a folder.
            format!("x/{input}"),
            // A folder that holds it.
            ".".to_owned(),
            here.to_string(),
        ];
        if at.join(input).is_dir() {
            outs.extend([format!("{input}/new"), format!("x/../{input}/new/newer")]);
            outs.push("old/old_A.txt".to_owned());
        }
        for out in outs {
            let has_force = !["split", "stream"].contains(&split(line)[0]);
            for force in [&["--force"][..], &[]] {
                if !force.is_empty() && !has_force {
                    continue;
                }
                let line = line.replace("INPUT", input);
                let mut words = split(&line);
                words.extend(["--out", &out]);
                words.extend(force);
                let ran = icl(at, &words);
                ran.rejected(&format!("out: found {out}, which "));
            }
        }
        assert!(everything(at) == before, "{line}");
    }
}

/// Files next to the one that is named, and the data of a manifest, are inputs and outputs, too.
#[test]
fn what_is_not_named_on_the_command_line_is_checked_too() {
    let at = tempdir().unwrap();
    let at = at.path();
    OLD.write(at, "old");
    NEW.write(at, "new");
    for file in ["o.labels.npy", "o.positives.csv", "e.safetensors"] {
        fs::write(at.join(file), "").unwrap();
    }
    let manifest = "schema = 1\n[[experience]]\nname = \"a\"\ndata = \"old\"\n[[experience]]\nname = \"b\"\ndata = \"new\"\n";
    fs::write(at.join("s.toml"), manifest).unwrap();
    let before = everything(at);
    let rejected = |line: &str, message: &str| {
        icl(at, &split(line)).rejected(message);
        assert!(everything(at) == before, "{line}");
    };
    rejected(
        "embed --from e.safetensors --data o.labels.npy --out o.npy --force",
        "out: found o.labels.npy, which is the input --data",
    );
    rejected(
        "embed --from e.safetensors --data o.positives.csv --views 2 --out o.csv --force",
        "out: found o.positives.csv, which is the input --data",
    );
    for (out, how) in [
        ("new", "is"),
        ("new/out", "lies in"),
        ("./old/../old", "is"),
    ] {
        let line = format!("stream --stream s.toml --epochs 1 --out {out}");
        rejected(
            &line,
            &format!("out: found {out}, which {how} the input --stream "),
        );
    }
}

/// A run may be repeated with its own options, elsewhere.
#[test]
fn outputs_apart_from_inputs_are_written() {
    let at = tempdir().unwrap();
    let at = at.path();
    OLD.write(at, "old");
    let train = "train --data old --epochs 1 --stop never --out";
    icl(at, &split(&format!("{train} old-2"))).succeeded();
    fs::create_dir(at.join("there")).unwrap();
    icl(at, &split(&format!("{train} there/../old-3"))).succeeded();
    icl(
        at,
        &split("train --config old-2/config.toml --out there/old"),
    )
    .succeeded();
    icl(at, &split("train --config old-2/config.toml --force"))
        .rejected("out: found old-2, which holds the input --config old-2/config.toml");
    let is_whole = |out: &str| {
        Path::new(&at.join(out))
            .join("encoder.safetensors")
            .exists()
    };
    assert!(
        ["old-2", "old-3", "there/old"]
            .iter()
            .all(|out| is_whole(out))
    );
}
