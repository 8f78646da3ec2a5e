//! Samples that are held out for good: by their contents, whatever the others are.

use std::fs;
use std::path::Path;

use icl_core::Increment;
use icl_data::{ContentHash, Missing, TableOptions, TableSchema, read_table};
use tempfile::tempdir;

use crate::support::{icl, number, record, split, without_digest};

/// Rows of a table: a number, another one and a category.
fn rows(numbers: impl Iterator<Item = u64>) -> Vec<String> {
    let row = |n: u64| {
        let spread = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        format!(
            "{},{},{}",
            spread % 97,
            spread as f64 / 64.0,
            ["red", "green", "blue"][n as usize % 3]
        )
    };
    numbers.map(row).collect()
}

fn write(path: &Path, rows: &[String]) {
    fs::write(path, format!("size,ratio,colour\n{}\n", rows.join("\n"))).unwrap();
}

/// The rows of a table that are held out, as they are in the file.
fn held_out(path: &Path, share: f64) -> Vec<String> {
    let options = TableOptions {
        missing: Missing::Mean,
        ..TableOptions::default()
    };
    let raw = read_table(path, &options).unwrap();
    let all: Vec<usize> = (0..raw.n_rows()).collect();
    let contents = TableSchema::fit(&raw, &all, &[])
        .unwrap()
        .apply(&raw)
        .unwrap()
        .contents();
    let all = Increment::before(all).unwrap();
    let (_, [held_out, _]) = all.hold_out_by(share, |row| contents[row]).unwrap();
    let text = fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = text.lines().skip(1).collect();
    held_out.iter().map(|&row| lines[row].to_owned()).collect()
}

fn rule_of(encoder: &Path) -> String {
    let file = icl_models::StoredEncoder::open(encoder).unwrap();
    file.get("hold-out").unwrap_or("none").to_owned()
}

const SMALL: &str = "--epochs 1 --layers 1 --width 8 --batch-size 32";

#[test]
fn a_row_that_was_held_out_yesterday_is_held_out_today() {
    let at = tempdir().unwrap();
    let at = at.path();
    let first = rows(0..200);
    write(&at.join("monday.csv"), &first);
    // The same rows in another order, with others among them.
    let mut more = rows(200..320);
    more.extend(first.iter().rev().cloned());
    write(&at.join("all.csv"), &more);
    write(&at.join("tuesday.csv"), &rows(320..400));
    let of_monday = held_out(&at.join("monday.csv"), 0.1);
    let of_all = held_out(&at.join("all.csv"), 0.1);
    assert!(of_monday.iter().all(|row| of_all.contains(row)));
    let again: Vec<_> = of_all.iter().filter(|row| first.contains(row)).collect();
    assert_eq!(again.len(), of_monday.len());
    let larger = held_out(&at.join("all.csv"), 0.3);
    assert!(of_all.iter().all(|row| larger.contains(row)));

    // The program holds out the same ones.
    icl(
        at,
        &split(&format!(
            "train --data monday.csv {SMALL} --seed 1 --out one"
        )),
    )
    .succeeded();
    icl(
        at,
        &split(&format!("train --data all.csv {SMALL} --seed 2 --out two")),
    )
    .succeeded();
    for (out, n) in [("one", of_monday.len()), ("two", of_all.len())] {
        let record = record(&at.join(out));
        assert_eq!(number(&record, "n_held_out"), n as f64);
        assert_eq!(record["hold_out"]["rule"], ContentHash::RULE);
        assert_eq!(number(&record, "hold_out.share"), 0.1);
        assert!(record["hold_out"]["share_before"].is_null());
        assert_eq!(
            rule_of(&at.join(out).join("encoder.safetensors")),
            "content-hash-1:0.1"
        );
    }
    // An update, too, whichever seed it has, and with the share of the encoder's file.
    let update = |options: &str| {
        let line = format!(
            "update --from one/encoder.safetensors --old all.csv --new tuesday.csv --epochs 1 --seed 9 {options}"
        );
        icl(at, &split(&line)).succeeded()
    };
    let ran = update("--out three");
    let record_of = |out: &str| record(&at.join(out));
    assert!(!ran.stderr.contains("hold-out:"), "{}", ran.stderr);
    assert_eq!(
        number(&record_of("three"), "n_held_out.old"),
        of_all.len() as f64
    );
    let of_tuesday = held_out(&at.join("tuesday.csv"), 0.1).len();
    assert_eq!(
        number(&record_of("three"), "n_held_out.new"),
        of_tuesday as f64
    );
    assert_eq!(number(&record_of("three"), "hold_out.share_before"), 0.1);
    let ran = update("--hold-out 0.3 --out four");
    let warning = "warning: hold-out: found 0.3, and 0.1 in the encoder's file";
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
    assert_eq!(
        number(&record_of("four"), "n_held_out.old"),
        larger.len() as f64
    );
    assert_eq!(number(&record_of("four"), "hold_out.share_before"), 0.1);
    // A smaller share of the update is what tomorrow's encoder has not seen.
    update("--hold-out 0.05 --out five");
    for (out, rule) in [("three", "0.1"), ("four", "0.1"), ("five", "0.05")] {
        let file = at.join(out).join("encoder.safetensors");
        assert_eq!(rule_of(&file), format!("content-hash-1:{rule}"), "{out}");
    }
    // A file of before says nothing.
    let path = at.join("one/encoder.safetensors");
    without_digest(&path);
    let bytes = fs::read(&path).unwrap();
    let text: Vec<u8> = bytes;
    let place = text.windows(8).position(|it| it == b"hold-out").unwrap();
    let mut older = text;
    older[place] = b'x';
    fs::write(&path, older).unwrap();
    let ran = update("--out six");
    let note = "note: the encoder's file does not say which samples were held out";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    assert!(record_of("six")["hold_out"]["share_before"].is_null());
    assert_eq!(rule_of(&at.join("six/encoder.safetensors")), "none");
}
