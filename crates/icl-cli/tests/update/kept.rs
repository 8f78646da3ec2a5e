//! Old data that are gone but for a uniform sample.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::{TempDir, tempdir};

use crate::support::{Ran, embedded, icl, number, record, split};

const SHORT: &str = "--epochs 2 --stop never --batch-size 8";

/// Writes a table of rows with these numbers.
fn write(at: &Path, name: &str, rows: std::ops::Range<usize>) {
    let row = |row: usize| format!("r-{row},{row},{}.5,{}\n", row * row % 17, 3 * row % 11);
    let rows: String = rows.map(row).collect();
    fs::write(at.join(name), format!("id,a,b,c\n{rows}")).unwrap();
}

/// Two old days and a new one, and an encoder of the first day.
fn days() -> TempDir {
    let at = tempdir().unwrap();
    write(at.path(), "1.csv", 0..200);
    write(at.path(), "2.csv", 200..260);
    write(at.path(), "3.csv", 260..320);
    run(
        at.path(),
        &format!("train --data 1.csv --exclude id --width 4 {SHORT} --out d1"),
    );
    at
}

fn run(at: &Path, line: &str) -> Ran {
    icl(at, &split(line)).succeeded()
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Lines of the only table in the folder of a kept sample, without the header.
fn rows(folder: &Path) -> Vec<String> {
    let mut files = fs::read_dir(folder.join("data")).unwrap();
    let text = fs::read_to_string(files.next().unwrap().unwrap().path()).unwrap();
    assert!(files.next().is_none());
    text.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn a_sample_is_kept_over_days() {
    let at = days();
    let at = at.path();
    run(at, "keep --data 1.csv --size 40 --out k1");
    let source = |name: &str| fs::read_to_string(at.join(name)).unwrap();
    let [one, two] = [source("1.csv"), source("2.csv")];
    let first = rows(&at.join("k1"));
    assert_eq!(first.len(), 40);
    assert!(first.iter().all(|row| one.lines().any(|line| line == row)));
    let kept = json(&at.join("k1/kept.json"));
    assert_eq!(
        (&kept["n_kept"], &kept["n_seen"]),
        (&40.into(), &200.into())
    );
    assert_eq!(kept["command"], "icl keep --data 1.csv --size 40");
    // Of 260 rows 40 stay, about 9 of them from the second day.
    run(at, "keep --from k1 --data 2.csv --out k2");
    let second = rows(&at.join("k2"));
    let n_new = second.iter().filter(|row| two.contains(*row)).count();
    let n_old = second.iter().filter(|row| first.contains(row)).count();
    assert_eq!(n_old + n_new, 40);
    assert!((2..=18).contains(&n_new), "{n_new}");
    let kept = json(&at.join("k2/kept.json"));
    assert_eq!(
        (&kept["n_kept"], &kept["n_seen"]),
        (&40.into(), &260.into())
    );
    let counts: Vec<&Value> = kept["sources"].as_array().unwrap().iter().collect();
    assert_eq!(
        [&counts[0]["n_samples"], &counts[1]["n_samples"]],
        [200, 60]
    );
    // The same command draws the same samples, another seed others.
    run(at, "keep --from k1 --data 2.csv --out again");
    assert_eq!(rows(&at.join("again")), second);
    run(at, "keep --from k1 --data 2.csv --seed 1 --out other");
    assert_ne!(rows(&at.join("other")), second);
    // Smaller it can become, larger not.
    run(at, "keep --from k2 --data 3.csv --size 10 --out k3");
    assert_eq!(rows(&at.join("k3")).len(), 10);
    let ran = run(at, "keep --from k2 --data 2.csv --out twice");
    let note = "2.csv were counted before; if these are the same, keep the sample of --from";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    let keep = |rest: &str| icl(at, &split(&format!("keep --data 3.csv {rest}")));
    keep("--from k2 --size 41 --out out").rejected("size: found 41, expected 2 to 40");
    keep("--size 1 --out out").rejected("size: found 1, expected 2 or more");
    keep("--size 9 --out k2").rejected("out: found k2, expected a new folder");
    keep("--from d1 --out out").rejected("from: found no d1/kept.json");
    keep("--size 9 --limit 20 --out out").rejected("limit: found 20, expected --size");
    let mut files = fs::read_dir(at.join("k3/data")).unwrap();
    let file = files.next().unwrap().unwrap().path();
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.lines().take(9).collect::<Vec<_>>().join("\n")).unwrap();
    keep("--from k3 --out out").rejected("from: found 8 samples in k3/data, expected 10");
    let path = at.join("k2/kept.json");
    let text = fs::read_to_string(&path).unwrap();
    let wrong = [("260", "2600"), ("260", "18446744073709551615")];
    for (from, to) in wrong {
        fs::write(&path, text.replace(from, to)).unwrap();
        keep("--from k2 --out out").rejected("k2/kept.json: found schema 1, ");
    }
    fs::write(at.join("k3/kept.json"), "{}").unwrap();
    keep("--from k3 --out out").rejected("k3/kept.json: found missing field");
    assert!(!at.join("out").exists());
}

/// Each day reads what the day before wrote, whatever its options leave out, and its names do not grow.
#[test]
fn kept_tables_are_read_as_they_were_written() {
    let at = tempdir().unwrap();
    let at = at.path();
    for day in 0..30 {
        let row = |row: usize| format!("{},{}.5,{}\n", 3 * row % 13, row * row % 17, row % 7);
        let rows: String = (20 * day..20 * (day + 1)).map(row).collect();
        fs::write(at.join(format!("2026-11-{day}-of-the-shop.csv")), &rows).unwrap();
        let names = format!("x,y,z\n{rows}");
        fs::write(at.join(format!("named-{day}.csv")), names).unwrap();
        let texts = rows.replace(',', " a,b ").replace('\n', " c\n");
        fs::write(
            at.join(format!("texts-{day}.csv")),
            format!("q,r,s\n{texts}"),
        )
        .unwrap();
    }
    for (name, of_day, options) in [
        ("h", "2026-11-%-of-the-shop.csv", ""),
        ("e", "named-%.csv", "--exclude y"),
        ("t", "texts-%.csv", "--texts 2,3"),
    ] {
        for day in 0..30 {
            let file = of_day.replace('%', &day.to_string());
            let before = match day {
                0 => "--size 15".to_owned(),
                day => format!("--from {name}{}", day - 1),
            };
            let line = format!("keep --data {file} {before} {options} --out {name}{day}");
            let ran = run(at, &line);
            assert!(!ran.stderr.contains("left out"), "{}", ran.stderr);
        }
        let last = at.join(format!("{name}29"));
        assert_eq!(json(&last.join("kept.json"))["n_seen"], 600);
        let text = fs::read_to_string(last.join("data/kept.csv")).unwrap();
        let header = usize::from(text.starts_with(['x', 'r', '1']) && name != "h");
        let rows = text.lines().skip(header).filter(|it| *it != "1,2,3");
        assert_eq!(rows.count(), 15, "{text}");
    }
    run(
        at,
        &format!("train --data named-0.csv --width 4 {SHORT} --out d"),
    );
    let line = "update --from d/encoder.safetensors --old-sample e29 --new named-1.csv --out out";
    icl(at, &split(line)).rejected_in_last_line("y");
    // A column that one day lacks would be lost for good.
    fs::write(at.join("lacks.csv"), "x\n1\n2\n4\n").unwrap();
    let line = "keep --from e29 --data lacks.csv --out out";
    icl(at, &split(line)).rejected("data: found no column \"z\" in lacks, expected the columns");
    run(at, "keep --data named-0.csv named-1.csv --size 10 --out a");
    run(at, "keep --data named-2.csv --size 10 --out b");
    let line = "update --from d/encoder.safetensors --old-sample a b --new named-1.csv --out out";
    icl(at, &split(line)).rejected("old-sample: found a among several, expected one sample");
}

#[test]
fn a_kept_sample_stands_for_all_old_data() {
    let at = days();
    let at = at.path();
    run(at, "keep --data 1.csv --size 40 --out k1");
    let update = format!("update --exclude id --budget none --accept {SHORT}");
    let line = format!("{update} --from d1/encoder.safetensors --old-sample k1 --new 2.csv");
    run(at, &format!("{line} --out d2"));
    let found = record(&at.join("d2"));
    let [n_kept, n_new] = ["n_old_kept", "n_new"].map(|key| number(&found, key));
    // A share of each part is held out, and each kept row stands for five.
    let n_old = number(&found, "n_old");
    assert!((30.0..40.0).contains(&n_kept));
    assert_eq!(n_old, 5.0 * n_kept);
    assert_eq!(number(&found, "alpha"), n_new / (n_old + n_new));
    for risk in ["before", "after"] {
        let of = |part: &str| number(&found[risk], part);
        let mean = (n_old * of("old") + n_new * of("new")) / (n_old + n_new);
        assert!((of("all") - mean).abs() < 1e-9, "{risk}");
    }
    let shown = run(at, "show d2").stdout;
    assert!(
        shown.contains("40 samples that stand for 200, digest"),
        "{shown}"
    );
    let page = fs::read_to_string(at.join("d2/report.html")).unwrap();
    assert!(page.contains(&format!("{n_old} old samples ({n_kept} kept)")));
    // The two epochs are as long as with all: two views of half of the old samples and of the new ones.
    let n_epoch = (0.5 * n_old).round() + n_new;
    assert_eq!(number(&found, "sample_passes"), 2.0 * 2.0 * n_epoch);
    // The number of a sample that something else drew is an option.
    let data: Vec<_> = fs::read_dir(at.join("k1/data")).unwrap().collect();
    let path = data[0].as_ref().unwrap().path();
    let path = path.to_str().unwrap();
    let line = format!("{update} --from d1/encoder.safetensors --new 2.csv");
    run(
        at,
        &format!("{line} --old-sample {path} --old-count 200 --out same"),
    );
    let digest = |folder: &str| {
        let ran = run(at, &format!("show {folder} --json"));
        serde_json::from_str::<Value>(&ran.stdout).unwrap()["digest"].clone()
    };
    assert_eq!(digest("same"), digest("d2"));
    let rejected = |rest: &str, message: &str| {
        icl(at, &split(&format!("{line} {rest} --out out"))).rejected_in_last_line(message);
        assert!(!at.join("out").exists());
    };
    rejected(&format!("--old-sample {path}"), "old-count: found none");
    rejected(
        &format!("--old-sample {path} --old-count 39"),
        "old-count: found 39, expected at least 40",
    );
    rejected(
        "--old-sample k1 --old-count 201",
        "old-count: found 201, expected 200",
    );
    rejected(
        "--old-sample k1 --limit 10",
        "limit: found 10 with --old-sample, expected the whole sample",
    );
    // What the next update cannot read again, it is asked for.
    let line = format!("{update} --from d2/encoder.safetensors --new 3.csv --out out");
    icl(at, &split(&line)).rejected_in_last_line("old: found nothing, expected --old-sample");
    run(at, "keep --from k1 --data 2.csv --out k2");
    let ran = run(
        at,
        &format!("{update} --from d2/encoder.safetensors --old-sample k2 --new 3.csv --out d3"),
    );
    assert!(!ran.stderr.contains("note: old"), "{}", ran.stderr);
    let line =
        format!("{update} --from d2/encoder.safetensors --old-sample k1 --new 3.csv --out d3b");
    let ran = run(at, &line);
    let note = "note: old: a sample that stands for 200 rows, but the encoder was trained on 260 (";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
}

/// A sample of all old data is all old data.
#[test]
fn all_that_is_kept_is_as_all_old_data() {
    let at = days();
    let at = at.path();
    run(at, "keep --data 1.csv --size 500 --out k1");
    let update = format!(
        "update --exclude id --budget none --accept {SHORT} --from d1/encoder.safetensors --new 2.csv"
    );
    run(at, &format!("{update} --old 1.csv --out all"));
    run(at, &format!("{update} --old-sample k1 --out kept"));
    // The name of the old data differs in the files.
    let embeddings = |folder: &str| {
        let line =
            format!("embed --from {folder}/encoder.safetensors --data 3.csv --out {folder}.csv");
        run(at, &line);
        embedded(&fs::read_to_string(at.join(format!("{folder}.csv"))).unwrap())
    };
    assert_eq!(embeddings("kept"), embeddings("all"));
}
