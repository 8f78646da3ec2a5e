//! The encoder to serve, and the way back to an earlier one.

use std::fs;

use tempfile::tempdir;

use super::{DIVIDED, json, names, resumed};
use crate::support::toys::OLD;
use crate::support::{icl, split};

#[test]
fn the_encoder_to_serve_is_named_whatever_waits() {
    let at = tempdir().unwrap();
    OLD.write(at.path(), "old");
    let line = "stream --data old --split data:4 --epochs 1 --stop never --when every:2 --accept --out out";
    icl(at.path(), &split(line)).succeeded();
    let out = at.path().join("out");
    // Experiences 0 and 2 were trained on; 3 waits.
    let current = json(&out.join("current.json"));
    assert_eq!(current["encoder"], "002-3/encoder.safetensors");
    assert_eq!(current["n_experiences"], 4);
    let shown = icl(at.path(), &split("show out/current --json")).succeeded();
    let shown: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(shown["digest"], current["digest"]);
    // The second encoder was trained from the first, with the experience that waited.
    assert_eq!(shown["parents"].as_array().unwrap().len(), 1);
    let data: Vec<_> = shown["origin"]["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].clone())
        .collect();
    assert_eq!(data, ["1", "2 to 3"]);
}

/// A rollback and a second run of the days give their encoders to the bit.
#[test]
fn what_was_taken_back_is_done_again() {
    let at = tempdir().unwrap();
    let at = at.path();
    OLD.write(at, "old");
    icl(at, &split(DIVIDED)).succeeded();
    icl(at, &split(&DIVIDED.replace("--out out", "--out whole"))).succeeded();
    let out = at.join("out");
    let ran = icl(at, &split("stream --rollback 1 --out out")).succeeded();
    assert!(
        ran.stdout
            .contains("2 experiences were moved to out/undone/1"),
        "{}",
        ran.stdout
    );
    assert_eq!(names(&out.join("undone/1")), ["002-3", "003-4"]);
    assert_eq!(
        json(&out.join("current.json"))["encoder"],
        "001-2/encoder.safetensors"
    );
    assert_eq!(
        fs::read_link(out.join("current")).unwrap(),
        fs::canonicalize(out.join("001-2"))
            .unwrap()
            .file_name()
            .unwrap()
    );
    // Once more changes nothing.
    icl(at, &split("stream --rollback 1 --out out")).succeeded();
    assert_eq!(names(&out.join("undone")), ["1"]);
    icl(at, &split("stream --resume out")).succeeded();
    fs::rename(out.join("undone"), at.join("undone")).unwrap();
    resumed::assert_same(&out, &at.join("whole"));
    let encoder = |folder: &str| fs::read(at.join(folder).join("encoder.safetensors")).unwrap();
    assert!(encoder("out/003-4") == encoder("undone/1/003-4"));
}

#[test]
fn a_way_back_that_there_is_not() {
    let at = tempdir().unwrap();
    let at = at.path();
    OLD.write(at, "old");
    icl(
        at,
        &split("stream --data old --split data:2 --epochs 1 --when never --out out"),
    )
    .succeeded();
    let back = |options: &str| icl(at, &split(&format!("stream --rollback {options}")));
    back("2 --out out")
        .rejected("rollback: found 2, expected the number of an experience from 0 to 1");
    back("0 --out nothing").rejected("nothing");
    back("0").rejected_at_length("--out");
    back("0 --out out --epochs 3").rejected_at_length("--epochs");
    assert!(!at.join("out/undone").exists() && !at.join("nothing").exists());
}
