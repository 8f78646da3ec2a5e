//! Tables through the program: from a CSV file to an updated encoder, killed runs, and files that are
//! malformed.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::tempdir;

use crate::support::stopped::{begin, kill};
use crate::support::{contents, icl, names, number, record, records, split, timeless, work};

/// The digits, few of each class, with a small encoder.
const FEW: &str = "--limit 120 --epochs 6 --layers 2 --width 16 --batch-size 16 --stop never";

/// Writes a table with a number that skews, two categories, a binary and a constant column, and classes.
fn write_table(at: &Path, name: &str, rows: std::ops::Range<usize>) {
    let mut text = "amount,ratio,colour,flag,same,class\n".to_owned();
    for row in rows {
        let class = row % 3;
        let amount = if row % 11 == 0 { 900.0 } else { class as f64 };
        let ratio = (row * 7 % 13) as f64 / 4.0 + class as f64;
        let colour = ["red", "green"][row % 2];
        text += &format!("{amount},{ratio},{colour},{},5,c{class}\n", row % 5 % 2);
    }
    fs::write(at.join(name), text).unwrap();
}

#[test]
fn from_a_table_to_an_updated_encoder() {
    let at = tempdir().unwrap();
    let at = at.path();
    write_table(at, "all.csv", 0..90);
    let ran = icl(
        at,
        &split("split --data all.csv --target class --split class:c0,c1 --out parts"),
    )
    .succeeded();
    assert_eq!(
        ran.stdout,
        "60 old and 30 new samples (α = 0.33) written to parts/old and parts/new\n"
    );
    let small = "--epochs 3 --layers 2 --width 8 --batch-size 16";
    let ran = icl(
        at,
        &split(&format!(
            "train --data parts/old --target class {small} --out yesterday"
        )),
    )
    .succeeded();
    assert!(
        ran.stderr.contains(
            "note: all: columns: 1 skewed, 1 continuous, 1 categorical, 1 binary, 1 constant (5 features); \
             dropped as constant: same"
        ),
        "{}",
        ran.stderr
    );
    icl(
        at,
        &split(
            "update --from yesterday/encoder.safetensors --old parts/old --new parts/new --target class \
             --epochs 3 --batch-size 16 --stop never --budget none --out today",
        ),
    )
    .succeeded();
    let updated = record(&at.join("today"));
    assert_eq!(number(&updated, "n_old"), 52.0);
    assert_eq!(number(&updated, "n_new"), 28.0);
    assert!(number(&updated, "parameter_change") > 0.0);
    // The same from one file with classes of its own.
    icl(
        at,
        &split(
            "update --from yesterday/encoder.safetensors --old all.csv --new all.csv --target class \
             --old-classes c0,c1 --new-classes c2 --epochs 3 --batch-size 16 --stop never --budget none --out again",
        ),
    )
    .succeeded();
    let again = record(&at.join("again"));
    for key in ["before.all", "after.all", "after.old", "after.new"] {
        assert_eq!(number(&again, key), number(&updated, key), "{key}");
    }
    icl(
        at,
        &split("embed --from today/encoder.safetensors --data all.csv --target class --out e.csv"),
    )
    .succeeded();
    let embedded = fs::read_to_string(at.join("e.csv")).unwrap();
    assert_eq!(embedded.lines().count(), 91);
    assert_eq!(embedded.lines().next().unwrap().split(',').count(), 3 + 8);
    // Other columns than those of the encoder are named.
    fs::write(
        at.join("other.csv"),
        "amount,weight,class\n1,2,c0\n3,4,c1\n",
    )
    .unwrap();
    let ran = icl(
        at,
        &split(
            "embed --from today/encoder.safetensors --data other.csv --target class --out f.csv",
        ),
    );
    ran.rejected("found other columns (missing: ratio, colour, flag; surplus: weight)");
    assert!(!at.join("f.csv").exists());
    // An encoder of tables takes no graphs, and one of graphs no tables.
    icl(
        at,
        &split("embed --from today/encoder.safetensors --data MUTAG --out f.csv"),
    )
    .rejected("found an encoder of kind \"mlp\", expected one for graphs: \"gcn\" or \"gin\"");
}

#[test]
fn a_comparison_on_digits_records_the_risk_with_old_partners() {
    let at = tempdir().unwrap();
    let run = format!(
        "run --data digits-table --split class:0,1,2,3,4 --method warm --method icl --seed 0 {FEW} --out out"
    );
    icl(at.path(), &split(&run)).succeeded();
    for record in records(&at.path().join("out")) {
        assert_ne!(
            number(&record, "risk.old"),
            number(&record, "risk_old_partners.old")
        );
        assert_eq!(number(&record, "n_evaluated"), 108.0);
        assert!(number(&record, "parameter_change") > 0.0);
        let accuracy = number(&record, "linear_probe.accuracy.all");
        assert!(accuracy > number(&record, "linear_probe.floors.majority.all"));
    }
}

#[test]
fn a_killed_run_on_a_table_is_resumed_to_the_bit() {
    let at = tempdir().unwrap();
    let run = |out: &str| {
        format!(
            "run --data digits-table --split class:0,1,2,3,4 --method icl --seeds 2 {FEW} --out {out}"
        )
    };
    icl(at.path(), &split(&run("whole"))).succeeded();
    kill(begin(
        at.path(),
        &run("killed"),
        "killed",
        "seed0.checkpoint",
    ));
    assert!(work(&at.path().join("killed")).exists());
    icl(at.path(), &split("run --resume killed")).succeeded();
    let [whole, killed] = ["whole", "killed"].map(|out| at.path().join(out));
    assert_eq!(timeless(&killed), timeless(&whole));
    let encoders = |of: &Path| {
        let mut files = contents(of);
        files.retain(|name, _| name.starts_with("encoder-"));
        files
    };
    assert_eq!(encoders(&killed), encoders(&whole));
    assert_eq!(encoders(&whole).len(), 2 * 2);
}

#[test]
fn a_table_without_classes_is_trained_on_without_accuracies() {
    let at = tempdir().unwrap();
    let at = at.path();
    write_table(at, "all.csv", 0..60);
    let run = "run --data all.csv --exclude class --method warm --seed 0 --epochs 2 --batch-size 16 --out out";
    let ran = icl(at, &split(run)).succeeded();
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    assert!(records(&at.join("out"))[0]["accuracy"]["all"].is_null());
    icl(
        at,
        &split("run --data all.csv --exclude class --split class:c0 --method warm --out none"),
    )
    .rejected_in_last_line("found no classes for split \"class:c0\", expected a target column");
}

#[test]
fn options_for_other_data_are_refused() {
    let at = tempdir().unwrap();
    for (line, message) in [
        (
            "run --data digits-table --encoder gcn",
            "encoder: found gcn for tables, expected mlp",
        ),
        (
            "run --data digits-table --noise augment",
            "noise: found augment for tables, expected auto, linear, geometric",
        ),
        (
            "run --data MUTAG --noise linear",
            "noise: found linear for graphs, expected augment, hidden, hidden-gaussian",
        ),
        (
            "run --data digits-table --noise linear --keep-columns 0.5",
            "keep-columns: found it with the noise linear, expected it with binary, plus, augment-plus only",
        ),
        (
            "run --data digits-table --alpha-mix 1.5",
            "mixing range: found α = 1.5, expected a number from 0 to 1",
        ),
        (
            "run --data digits-table --stem small",
            "stem: found it with the encoder mlp of tables, expected it with resnet18 only",
        ),
        (
            "run --data MUTAG --target class",
            "target: found it with MUTAG, a data set of graphs, expected it with tables only",
        ),
        (
            "run --data digits-table --layers 0",
            "n_layers: found 0, expected at least 1",
        ),
    ] {
        icl(at.path(), &split(line)).rejected(message);
    }
    // The columns have been told before the split is made.
    icl(
        at.path(),
        &split("run --data digits-table --split class:0,x"),
    )
    .rejected_in_last_line("found no class \"x\", expected classes among 0, 1");
    assert!(names(at.path()).is_empty());
}

#[test]
fn malformed_tables_give_one_error_each() {
    let at = tempdir().unwrap();
    let at = at.path();
    let gzip = |text: &[u8]| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(text).unwrap();
        packed.finish().unwrap()
    };
    let rows = "a,b\n1,2\n3,4\n5,6\n7,8\n";
    let wide = format!("{}1\n", "1,".repeat(999_999));
    let long = "1,2\n".repeat(30_000_000);
    let cut = gzip(rows.repeat(50).as_bytes());
    for (name, bytes, message) in [
        (
            "cut.csv.gz",
            cut[..cut.len() - 9].to_vec(),
            "cut or damaged gzip file",
        ),
        (
            "width.csv",
            b"a,b\n1,2\n3\n5,6\n".to_vec(),
            "width.csv, line 3: found 1 values, expected 2",
        ),
        (
            "nan.csv",
            b"a,b\n1,2\n3,NaN\n5,6\n7,8\n".to_vec(),
            "nan.csv, line 3, column \"b\": found \"NaN\", a missing value",
        ),
        (
            "infinite.csv",
            b"a,b\n1,2\n3,inf\n5,6\n7,8\n".to_vec(),
            "infinite.csv, line 3, column \"b\": found \"inf\", expected a finite number",
        ),
        ("wide.csv", wide.into_bytes(), "columns"),
        (
            "quote.csv",
            b"a,b\n1,2\n\"3,4\n5,6\n".to_vec(),
            "quote.csv, line 3: found a quote that is never closed",
        ),
        ("bomb.csv.gz", gzip(long.as_bytes()), "bomb.csv.gz"),
        ("empty.csv", Vec::new(), "empty.csv: found an empty table"),
        (
            "bytes.csv",
            b"a,b\n1,2\n\xff,4\n".to_vec(),
            "bytes.csv, line 3",
        ),
    ] {
        fs::write(at.join(name), bytes).unwrap();
        let ran = icl(
            at,
            &["train", "--data", name, "--epochs", "1", "--out", "out"],
        );
        ran.rejected(message);
        assert!(!at.join("out").exists(), "{name}");
        fs::remove_file(at.join(name)).unwrap();
    }
}

/// The decoder panics on this damage; the user sees one line all the same.
#[test]
fn a_damaged_parquet_file_gives_one_error() {
    let at = tempdir().unwrap();
    let source = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../icl-data/tests/reference/tables/none.parquet"
    );
    let mut bytes = fs::read(source).unwrap();
    bytes[3610] = 198;
    fs::write(at.path().join("t.parquet"), bytes).unwrap();
    let line = "split --data t.parquet --missing mean --out parts";
    let ran = icl(at.path(), &split(line));
    ran.rejected("t.parquet: found a Parquet file that cannot be read");
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

#[test]
fn columns_and_classes_of_one_side_alone_are_noted() {
    let at = tempdir().unwrap();
    let at = at.path();
    write_table(at, "old.csv", 0..60);
    let small = "--epochs 2 --layers 2 --width 8 --batch-size 16";
    let line = format!("train --data old.csv --target class {small} --out yesterday");
    icl(at, &split(&line)).succeeded();
    // Today's table has no classes and no constant column, and a column more.
    write_table(at, "whole.csv", 60..90);
    let whole = fs::read_to_string(at.join("whole.csv")).unwrap();
    let mut text = String::new();
    for (row, line) in whole.lines().enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        let more = if row == 0 { "weight" } else { "7" };
        text += &format!("{},{more}\n", fields[..4].join(","));
    }
    fs::write(at.join("new.csv"), text).unwrap();
    let update = |new: &str, options: &str| {
        let line = "update --from yesterday/encoder.safetensors --old old.csv --epochs 2 --batch-size 16 \
             --hold-out 0";
        icl(at, &split(&format!("{line} --new {new} {options}")))
    };
    let ran = update("new.csv", "--target class --exclude weight --out today").succeeded();
    for note in [
        "note: new: found no column \"class\", which `--target` names",
        "note: old: found no column \"weight\", which `--exclude` names",
    ] {
        assert!(ran.stderr.contains(note), "{}", ran.stderr);
    }
    let ran = update("new.csv", "--target class --out surplus").succeeded();
    let note = "note: new: column weight is left out, since the encoder's data do not have it";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    // The rows are those of the whole table without its classes. A constant column is content: others would be held
    // out.
    update("whole.csv", "--exclude class --out same").succeeded();
    for folder in ["today", "surplus"] {
        for key in ["before.all", "after.old", "after.new"] {
            let found = number(&record(&at.join(folder)), key);
            assert_eq!(
                found,
                number(&record(&at.join("same")), key),
                "{folder}, {key}"
            );
        }
    }
    update("new.csv", "--exclude weigth --out none").rejected_in_last_line(
        "old.csv and new.csv: found no column \"weigth\", which `--exclude` names",
    );
    assert!(!at.join("none").exists());
}
