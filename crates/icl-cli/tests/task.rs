//! Accuracies on the labels of held-out samples, of the data or of a file of their own.

use std::fs;
use std::path::Path;

use tempfile::{TempDir, tempdir};

use crate::support::{Ran, icl, number, record, split};

const SMALL: &str = "--epochs 3 --layers 2 --width 8 --batch-size 16 --hold-out 0.3 --seed 2";

/// Class of a row; names in an order other than that of the rows.
fn class(row: usize) -> &'static str {
    ["b", "a", "c"][row % 3]
}

/// Writes a table of rows with ids, features that distinguish the classes, and the classes.
fn write_table(at: &Path, name: &str, rows: std::ops::Range<usize>) {
    let mut text = "id,x,y,class\n".to_owned();
    for row in rows {
        let noise = (row * 7 % 13) as f64 / 8.0;
        let (x, y) = ((row % 3) as f64 + noise, (row * row % 17) as f64 - noise);
        text += &format!("{:04},{x},{y},{}\n", row * 31 % 1009, class(row));
    }
    fs::write(at.join(name), text).unwrap();
}

/// A folder with tables of 90 old and 60 new rows.
fn with_tables() -> TempDir {
    let at = tempdir().unwrap();
    write_table(at.path(), "old.csv", 0..90);
    write_table(at.path(), "new.csv", 90..150);
    at
}

#[track_caller]
fn ran(at: &Path, line: &str) -> Ran {
    icl(at, &split(line)).succeeded()
}

#[test]
fn labels_of_a_file_are_as_good_as_those_of_the_data() {
    let at = with_tables();
    let at = at.path();
    // Names in another order, and of samples that are not in the data.
    let named = (0..200).rev();
    let named: String = named
        .map(|row| format!("{:04},{}\n", row * 31 % 1009, class(row)))
        .collect();
    fs::write(at.join("named.csv"), format!("id,label\n{named}")).unwrap();
    let of_old = (0..90).map(|row| format!("old,{row:03},{}\n", class(row)));
    let of_new = (90..150).map(|row| format!("new,{},{}\n", row - 90, class(row)));
    let by_row: String = of_old.chain(of_new).collect();
    fs::write(at.join("by-row.csv"), format!("data,row,label\n{by_row}")).unwrap();
    ran(
        at,
        &format!("train --data old.csv --target class --exclude id {SMALL} --out in-data"),
    );
    let ran_named = ran(
        at,
        &format!("train --data old.csv --exclude class --task named.csv {SMALL} --out named"),
    );
    assert!(
        ran_named
            .stderr
            .contains("note: task: 90 of 90 rows have a label"),
        "{}",
        ran_named.stderr
    );
    let expected = record(&at.join("in-data"))["task"].clone();
    assert_eq!(number(&expected, "n_labelled"), 15.0);
    assert!(number(&expected, "n_held_out") > 10.0, "{expected}");
    for classifier in ["nearest", "linear"] {
        let of = &expected[classifier];
        assert_eq!(number(of, "before"), number(of, "untrained"));
    }
    assert_eq!(record(&at.join("named"))["task"], expected);
    let update = |options: &str, out: &str| {
        let line = format!(
            "update --from in-data/encoder.safetensors --old old.csv --new new.csv {options} --budget none \
             --epochs 3 --batch-size 16 --hold-out 0.3 --accept --out {out}"
        );
        ran(at, &line);
        record(&at.join(out))["task"].clone()
    };
    let expected = update("--target class --exclude id", "updated");
    assert_eq!(number(&expected, "n_labelled"), 15.0);
    for (options, out) in [
        ("--exclude class,id --task named.csv", "by-name"),
        ("--exclude class,id --task by-row.csv", "by-row"),
    ] {
        assert_eq!(update(options, out), expected, "{options}");
    }
    // Labels of some samples alone: the new ones.
    let of_new = (90..150).map(|row| format!("new,{},{}\n", row - 90, class(row)));
    let of_new: String = of_new.collect();
    fs::write(
        at.join("some.csv"),
        format!(
            "row,data,label\n{}",
            of_new.replace("new,", "").replace(',', ",new,")
        ),
    )
    .unwrap();
    let of_some = update("--exclude class,id --task some.csv", "some");
    assert!(number(&of_some, "n_held_out") < number(&expected, "n_held_out"));
    let page = fs::read_to_string(at.join("some/report.html")).unwrap();
    assert!(page.contains("the updated encoder, compared with the one before: by the nearest one"));
}

#[test]
fn a_stream_compares_the_encoders_on_labels() {
    let at = with_tables();
    let at = at.path();
    write_table(at, "later.csv", 150..200);
    write_table(at, "all.csv", 0..200);
    let few = "--epochs 2 --layers 2 --width 8 --batch-size 16 --hold-out 0.3 --accept";
    let entry = |name: &str| format!("[[experience]]\nname = \"{name}\"\ndata = \"{name}.csv\"\n");
    let manifest = ["old", "new", "later"].map(entry).concat();
    fs::write(at.join("s.toml"), format!("schema = 1\n{manifest}")).unwrap();
    let tasks = |options: &str, out: &str| -> Vec<serde_json::Value> {
        ran(at, &format!("stream {options} {few} --out {out}"));
        let text = fs::read_to_string(at.join(out).join("stream.jsonl")).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines
            .map(|line: serde_json::Value| line["task"].clone())
            .collect()
    };
    let expected = tasks("--stream s.toml --target class --exclude id", "in-data");
    assert!(expected[0].is_null());
    let held_out = expected[1..].iter().map(|task| number(task, "n_held_out"));
    assert!(held_out.is_sorted() && number(&expected[2], "n_held_out") > 40.0);
    // Labels of experiences that have not come yet do no harm.
    let of = |name: &str, rows: std::ops::Range<usize>| -> String {
        let line = |(row, at): (usize, usize)| format!("{name},{row},{}\n", class(at));
        rows.enumerate().map(line).collect()
    };
    let by_row = [
        of("old", 0..90),
        of("new", 90..150),
        of("later", 150..200),
        of("tomorrow", 200..210),
    ];
    fs::write(
        at.join("by-row.csv"),
        format!("data,row,label\n{}", by_row.concat()),
    )
    .unwrap();
    let found = tasks(
        "--stream s.toml --exclude class,id --task by-row.csv",
        "by-row",
    );
    assert_eq!(found, expected);
    let page = fs::read_to_string(at.join("by-row/report.html")).unwrap();
    assert!(page.contains("Accuracies on labels"));
    // One data set that is divided: rows are its own.
    let expected = tasks(
        "--data all.csv --split data:3 --target class --exclude id",
        "divided",
    );
    let rows: String = (0..200)
        .map(|row| format!("{row},{}\n", class(row)))
        .collect();
    fs::write(at.join("rows.csv"), format!("row,label\n{rows}")).unwrap();
    let options = "--data all.csv --split data:3 --exclude class,id --task rows.csv";
    assert_eq!(tasks(options, "rows"), expected);
    let wrong = by_row.concat().replace("later,3,", "later,50,");
    fs::write(at.join("by-row.csv"), format!("data,row,label\n{wrong}")).unwrap();
    let options = "stream --stream s.toml --exclude class,id --task by-row.csv";
    let ran = icl(at, &split(&format!("{options} {few} --out wrong")));
    let message = "by-row.csv, line 155, column row: found 50, expected the number of a sample";
    ran.rejected_in_last_line(message);
}

#[test]
fn a_file_of_labels_that_cannot_be_used_is_rejected() {
    let at = with_tables();
    let at = at.path();
    ran(
        at,
        &format!("train --data old.csv --exclude class,id {SMALL} --out first"),
    );
    let train = "train --data old.csv --exclude class,id";
    let update =
        "update --from first/encoder.safetensors --old old.csv --new new.csv --exclude class,id";
    for (line, text, expected) in [
        (train, "", "task: t.csv: found"),
        (
            train,
            "row,label,comment\n0,a,x\n",
            "line 1: found the columns \"row,label,comment\", expected label and either row",
        ),
        (
            train,
            "row,class\n0,a\n",
            "line 1: found the columns \"row,class\"",
        ),
        (
            train,
            "row,label\n0,a\n1,b\n1,b\n",
            "line 4: found \"1\" again, expected each sample once (first on line 3)",
        ),
        (
            train,
            "row,label\n00,a\n1,b\n01,b\n",
            "line 4: found \"1\" again",
        ),
        (
            train,
            "row,label\n0,a\n-1,b\n",
            "line 3, column row: found \"-1\", expected a whole number from 0",
        ),
        (
            train,
            "row,label\n0,a\n90,b\n",
            "line 3, column row: found 90, expected the number of a sample",
        ),
        (
            train,
            "row,label\n0,a\n\n1,\n",
            "line 4, column label: found nothing, expected a text",
        ),
        (
            train,
            "row,label\n0,a\n1,a\n",
            "found the label \"a\" alone, expected at least 2",
        ),
        (
            train,
            "row,label\n0,a\n1,b,c\n",
            "t.csv, line 3: found 3 values, expected 2",
        ),
        (train, "key,label\n0,a\n1,b\n", "no column \"key\""),
        (
            train,
            "id,label\nA,a\nB,b\n",
            "t.csv: found none of its 2 samples in \"old\", expected some",
        ),
        (
            train,
            "data,row,label\nold,0,a\nold,1,b\n",
            "line 1: found a column data, expected none",
        ),
        (
            update,
            "row,label\n0,a\n1,b\n",
            "line 1: found no column data, expected one, since rows are of several",
        ),
        (
            update,
            "data,row,label\nold,0,a\nnow,1,b\n",
            "line 3, column data: found \"now\", expected one of old, new",
        ),
        (
            update,
            "data,row,label\nold,60,a\nnew,60,b\n",
            "line 3, column row: found 60, expected the number",
        ),
        (
            "stream --data old.csv --split data:2 --exclude class,id",
            "data,row,label\na,0,a\na,1,b\n",
            "line 1: found a column data, expected none",
        ),
        (
            "train --data old.csv --target class --exclude id",
            "class,label\na,a\nb,b\n",
            "found the column \"class\" as target and as the names of the rows",
        ),
        (
            "train --data old.csv --exclude class,id --hold-out 0",
            "row,label\n0,a\n1,b\n",
            "task: found it with --hold-out 0",
        ),
        (
            update,
            "x,label\n0,a\n1,b\n",
            "expected row: the column is a feature of the encoder",
        ),
        (
            "train --data MUTAG",
            "name,label\nA,a\nB,b\n",
            "expected row: the graphs have no names",
        ),
        (
            "train --data old.csv --limit 40",
            "row,label\n0,a\n1,b\n",
            "found a column row with an option that leaves samples out",
        ),
    ] {
        fs::write(at.join("t.csv"), text).unwrap();
        let ran = icl(at, &split(&format!("{line} --task t.csv --out out")));
        ran.rejected_in_last_line(expected);
        assert!(!at.join("out").exists(), "{expected}");
    }
    let ran = icl(at, &split(&format!("{train} --task none.csv --out out")));
    ran.rejected("task: none.csv: found no such file");
}
