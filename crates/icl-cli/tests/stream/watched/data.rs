//! Data that are none, that are bad, or that are too few.

use std::fs;

use super::{ONCE, append, experiences, folder, owned, rows, table, write};
use crate::stream::lines;
use crate::support::toys::OLD;
use crate::support::{everything, icl, record, split, text};
use serde_json::Value;

/// Files of other programs are skipped and counted; bad data are listed with the reason, and read again when they
/// change.
#[test]
fn one_bad_file_is_left_out_alone() {
    let at = folder();
    for (name, text) in [
        ("_SUCCESS", ""),
        ("readme.txt", "Hello"),
        ("1.csv~", "x,y\n1,2\n"),
        ("Thumbs.db", "\u{1}\u{2}"),
        (".hidden.csv", "x,y\n1,2\n"),
    ] {
        write(&at, name, text);
    }
    fs::create_dir(at.path().join("in/_temporary")).unwrap();
    write(&at, "0.csv", "x,y\n1,2\n3\n");
    write(&at, "1.csv", &table(0, 20));
    write(&at, "2.csv", &table(20, 20).replacen(".5,", ".5,,", 1));
    write(&at, "3.csv", &table(40, 20).replacen("x,y", "x,z", 1));
    write(&at, "4.csv", &table(60, 20).replace(",76\n", ",\n"));
    fs::create_dir(at.path().join("in/5.csv")).unwrap();
    OLD.write(&at.path().join("in"), "6");
    write(&at, "7.csv", &table(80, 20));
    write(&at, "8\n.csv", &table(100, 20));
    let empty_cell = table(60, 20).lines().position(|it| it.ends_with(",76"));
    assert!(empty_cell.is_some(), "the table has an empty cell");
    let before = everything(&at.path().join("in"));
    let ran = icl(at.path(), &split(ONCE)).succeeded();
    let out = at.path().join("out");
    assert_eq!(experiences(&out), owned([("1.csv", 20), ("7.csv", 20)]));
    let rejected = || {
        let lines = lines(&out.join("rejected.jsonl"));
        let of = |it: &Value| (text(it, "file").to_owned(), text(it, "reason").to_owned());
        lines.iter().map(of).collect::<Vec<_>>()
    };
    let found = rejected();
    let files: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(files, ["0.csv", "2.csv", "3.csv", "4.csv", "6", "8\n.csv"]);
    for ((name, reason), needle) in found.iter().zip([
        "line 3",
        "found 3 values, expected 2",
        "z",
        "missing",
        "found graphs, expected rows",
        "expected 1 to 100 characters",
    ]) {
        assert!(reason.contains(needle), "{name}: {reason}");
    }
    for needle in ["2 taken", "6 rejected", "6 no data"] {
        assert!(ran.stderr.contains(needle), "{needle}: {}", ran.stderr);
    }
    // Nothing there was touched.
    assert!(everything(&at.path().join("in")) == before);
    // What was bad and has changed is read again; what was left out has gone.
    write(&at, "4.csv", &table(60, 20));
    fs::remove_file(at.path().join("in/0.csv")).unwrap();
    icl(at.path(), &["stream", "--resume", "out"]).succeeded();
    let expected = owned([("1.csv", 20), ("7.csv", 20), ("4.csv", 20)]);
    assert_eq!(experiences(&out), expected);
    assert_eq!(rejected().len(), 4);
}

/// Data of 0 to 3 rows are no experience; they are merged with the next, also with the first.
#[test]
fn a_few_rows_are_merged_with_the_next() {
    let at = folder();
    write(&at, "a.csv", &table(0, 1));
    write(&at, "b.csv", &table(1, 2));
    write(&at, "c.csv", "x,y\n");
    write(&at, "d.csv", "");
    let ran = icl(at.path(), &split(ONCE)).succeeded();
    let needle = "4 with 3 samples, too few for an experience, to be merged with the next (a.csv, b.csv, c.csv, d.csv)";
    assert!(ran.stderr.contains(needle), "{}", ran.stderr);
    let out = at.path().join("out");
    assert!(!out.exists());
    write(&at, "e.csv", &table(3, 20));
    icl(at.path(), &split(ONCE)).succeeded();
    let mut expected = owned([("e.csv", 23)]);
    assert_eq!(experiences(&out), expected);
    let files = |of: &str| record(&out.join(of))["files"].clone();
    assert_eq!(
        files("000-e"),
        serde_json::json!(["e.csv", "a.csv", "b.csv"])
    );
    let resume = || icl(at.path(), &["stream", "--resume", "out"]).succeeded();
    write(&at, "f.csv", &table(30, 3));
    let ran = resume();
    assert!(
        ran.stderr.contains("3 with 3 samples, too few"),
        "{}",
        ran.stderr
    );
    assert_eq!(experiences(&out), expected);
    // It grows, and is one itself; then two of two rows are one.
    append(&at.path().join("in/c.csv"), &rows(40, 2));
    write(&at, "f.csv", &table(30, 4));
    resume();
    expected.extend(owned([("f.csv", 6)]));
    assert_eq!(experiences(&out), expected);
    write(&at, "g.csv", &table(50, 2));
    write(&at, "h.csv", &table(52, 2));
    resume();
    expected.extend(owned([("h.csv", 4)]));
    assert_eq!(experiences(&out), expected);
    assert_eq!(files("002-h"), serde_json::json!(["h.csv", "g.csv"]));
    // One that was merged is known again, too.
    write(&at, "g.csv", &table(60, 2));
    let refused = icl(at.path(), &["stream", "--resume", "out"]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("experience 3, "),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("in/g.csv"), "{}", refused.stderr);
    assert!(!refused.stderr.contains("in/h.csv"), "{}", refused.stderr);
}

/// In a manifest, too few samples are an error with their number.
#[test]
fn too_few_samples_are_told_by_their_number() {
    let at = folder();
    write(&at, "a.csv", &table(0, 20));
    let entry =
        |name: &str| format!("[[experience]]\nname = \"{name}\"\ndata = \"in/{name}.csv\"\n");
    let manifest = format!("schema = 1\n{}{}", entry("a"), entry("b"));
    fs::write(at.path().join("s.toml"), manifest).unwrap();
    for n in 1..4 {
        write(&at, "b.csv", &table(20, n));
        let out = format!("out{n}");
        let line = format!("stream --stream s.toml --epochs 1 --when never --out {out}");
        let ran = icl(at.path(), &split(&line));
        let needle = format!("experience \"b\": found {n} samples, expected at least 4");
        ran.rejected_in_last_line(&needle);
    }
}
