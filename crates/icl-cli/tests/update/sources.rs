//! Old and new data in several files, and old data that the encoder's file names.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::{TempDir, tempdir};

use crate::support::{Ran, icl, split};

const SHORT: &str = "--epochs 2 --stop never";
const UPDATE: &str = "update --budget none --accept --epochs 2 --stop never";

/// Writes a table of 20 rows that begin at this number.
fn write(at: &Path, name: &str, first: usize) {
    let row = |row: usize| format!("{},{}.5,{}\n", row, row * row % 17, 3 * row % 11);
    let rows: String = (first..first + 20).map(row).collect();
    fs::write(at.join(name), format!("a,b,c\n{rows}")).unwrap();
}

/// Three days of rows, and an encoder of the first two.
fn days() -> TempDir {
    let at = tempdir().unwrap();
    fs::create_dir(at.path().join("old")).unwrap();
    for (day, name) in ["old/1.csv", "old/2.csv", "3.csv", "4.csv"]
        .into_iter()
        .enumerate()
    {
        write(at.path(), name, 20 * day);
    }
    run(
        at.path(),
        &format!("train --data old --width 4 {SHORT} --out d0"),
    );
    at
}

fn run(at: &Path, line: &str) -> Ran {
    icl(at, &split(line)).succeeded()
}

fn shown(at: &Path, folder: &str) -> Value {
    let ran = run(at, &format!("show {folder} --json"));
    serde_json::from_str(&ran.stdout).unwrap()
}

/// Number and digest of the samples of each part of the data.
fn parts(of: &Value) -> Vec<(u64, String)> {
    let data = of["origin"]["data"].as_array().unwrap().iter();
    data.map(|it| {
        let digest = it["digest"].as_str().unwrap();
        (it["n_samples"].as_u64().unwrap(), digest.to_owned())
    })
    .collect()
}

#[test]
fn files_patterns_lists_and_folders_are_the_same_samples() {
    let at = days();
    let at = at.path();
    fs::write(at.join("list.txt"), "# so far\nold/1.csv\nold/2.csv\n").unwrap();
    let mut found = Vec::new();
    for (out, old) in [
        ("a", "--old old/1.csv old/2.csv"),
        ("b", "--old old/1.csv --old old/2.csv"),
        ("c", "--old old/*.csv"),
        ("d", "--old @list.txt"),
        ("e", "--old old"),
    ] {
        let line = format!("{UPDATE} --from d0/encoder.safetensors {old} --new 3.csv --out {out}");
        let ran = run(at, &line);
        // Those of the training: nothing to report.
        assert!(!ran.stderr.contains("old:"), "{}", ran.stderr);
        found.push(shown(at, out));
    }
    assert_eq!(parts(&found[0])[0].0, 40);
    assert_eq!(parts(&found[0])[0], parts(&shown(at, "d0"))[0]);
    for other in &found {
        assert_eq!(parts(other), parts(&found[0]));
    }
    for other in &found[..4] {
        assert_eq!(other["digest"], found[0]["digest"]);
    }
}

#[test]
fn old_data_are_those_that_the_encoder_names() {
    let at = days();
    let at = at.path();
    run(
        at,
        &format!("{UPDATE} --from d0/encoder.safetensors --old old --new 3.csv --out d1"),
    );
    let update = format!("{UPDATE} --from d1/encoder.safetensors --new 4.csv");
    let ran = run(at, &format!("{update} --out d2"));
    let note = "note: old: the data of the encoder's training: ";
    let line = ran
        .stderr
        .lines()
        .find(|line| line.starts_with(note))
        .unwrap();
    assert!(
        line.ends_with("/3.csv") && line.contains("/old, "),
        "{line}"
    );
    let d2 = shown(at, "d2");
    assert_eq!(
        parts(&d2).iter().map(|it| it.0).collect::<Vec<_>>(),
        [60, 20]
    );
    // Only the last training has paths.
    assert_eq!(
        d2["origin"]["data"][0]["sources"].as_array().unwrap().len(),
        2
    );
    assert!(d2["parents"][1]["origin"]["data"][0]["sources"].is_null());
    // What has changed since is not what it was trained on.
    write(at, "3.csv", 90);
    icl(at, &split(&format!("{update} --out d3")))
        .rejected_in_last_line("old: found 60 samples with the digest ");
    assert!(!at.join("d3").exists());
}

#[test]
fn sources_that_do_not_fit() {
    let at = days();
    let at = at.path();
    let update = |rest: &str| {
        icl(
            at,
            &split(&format!(
                "{UPDATE} --from d0/encoder.safetensors --out out {rest}"
            )),
        )
    };
    update("--old nothing*.csv --new 3.csv")
        .rejected("old: found nothing that the pattern nothing*.csv matches");
    update("--old old/1.csv old/1.csv --new 3.csv").rejected("old: found \"old/1.csv\" twice");
    update("--old @nowhere --new 3.csv").rejected("old: nowhere: found no readable file");
    update("--old old --new 3.csv MUTAG").rejected("MUTAG: found graphs, expected tables");
    // A column that one file lacks is left out of all, and the encoder needs it.
    fs::write(at.join("short.csv"), "a,b\n1,2\n3,4\n5,6\n").unwrap();
    let ran = update("--old old --new 3.csv short.csv");
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let note = "note: short.csv lacks columns of 3.csv, which are left out: c";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    fs::write(at.join("wide.csv"), "a,b,c,d\n1,2,3,9\n3,4,5,9\n5,6,7,8\n").unwrap();
    let ran = update("--old old --new 3.csv wide.csv").succeeded();
    let note = "note: 3.csv lacks columns of wide.csv, which are left out: d";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
}
