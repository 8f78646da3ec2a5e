//! The readers against `scripts/reference/tables.py`: files of pandas and pyarrow, statistics of pandas.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use icl_core::testing::assert_close;
use icl_core::{GrowthRatio, Seed};
use icl_data::{
    ColumnKind, Missing, RawTable, Split, TableOptions, TableSchema, TabularDataset,
    looks_like_table, read_table,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Record {
    n_old: usize,
    statistics: BTreeMap<String, Moments>,
    colours: Vec<String>,
    classes: Vec<String>,
    labels: Vec<usize>,
    latest_third: Vec<usize>,
}

#[derive(Deserialize)]
struct Moments {
    mean: f64,
    sd: f64,
    min: f64,
    max: f64,
    min_positive: f64,
    skewness: f64,
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/reference/tables")
        .join(name)
}

fn record() -> Record {
    serde_json::from_str(&fs::read_to_string(path("tables.json")).unwrap()).unwrap()
}

fn options() -> TableOptions {
    TableOptions {
        target: Some("class".into()),
        missing: Missing::Mean,
        ..TableOptions::default()
    }
}

fn read(name: &str) -> RawTable {
    read_table(path(name), &options()).unwrap()
}

fn message(name: &str, options: &TableOptions) -> String {
    let error = read_table(path(name), options).unwrap_err();
    error
        .to_string()
        .replace(&path(name).display().to_string(), "T")
}

#[test]
fn statistics_are_those_of_pandas() {
    let record = record();
    let table = read("table.csv");
    assert_eq!(table.class_names(), record.classes);
    let labels = table.labels().iter();
    let labels: Vec<usize> = labels
        .map(|&label| record.classes[label].parse().unwrap())
        .collect();
    assert_eq!(labels, record.labels);
    let old: Vec<usize> = (0..record.n_old).collect();
    let schema = TableSchema::fit(&table, &old, &["day"]).unwrap();
    let columns: BTreeMap<&str, _> = schema
        .columns()
        .iter()
        .map(|column| (&*column.name, column))
        .collect();
    for (name, kind) in [
        ("number", ColumnKind::Continuous),
        ("amount", ColumnKind::Skewed),
        ("flag", ColumnKind::Binary),
        ("gaps", ColumnKind::Continuous),
        ("colour", ColumnKind::Categorical),
        ("day", ColumnKind::Excluded),
    ] {
        assert_eq!(columns[name].kind, kind, "{name}");
    }
    assert!(columns["gaps"].has_indicator);
    assert_eq!(columns["colour"].categories, record.colours);
    for (name, expected) in record.statistics {
        let found = schema.statistics()[columns[&*name].features.start];
        let found = [
            found.mean,
            found.sd,
            found.min.into(),
            found.max.into(),
            found.min_positive.unwrap().into(),
            found.skewness,
        ];
        let Moments {
            mean,
            sd,
            min,
            max,
            min_positive,
            skewness,
        } = expected;
        // Both are sums in double precision.
        assert_close(&found, &[mean, sd, min, max, min_positive, skewness], 1e-12);
    }
}

#[test]
fn a_parquet_file_of_each_codec_holds_the_same_table() {
    let text = read("table.csv");
    let all: Vec<usize> = (0..text.n_rows()).collect();
    let schema = TableSchema::fit(&text, &all, &[]).unwrap();
    let expected = schema.apply(&text).unwrap();
    for name in [
        "none.parquet",
        "snappy.parquet",
        "gzip.parquet",
        "zstd.parquet",
    ] {
        assert!(looks_like_table(path(name)));
        let table = read(name);
        assert_eq!(table.column_names(), text.column_names());
        let found = TableSchema::fit(&table, &all, &[])
            .unwrap()
            .apply(&table)
            .unwrap();
        assert_eq!(found.values(), expected.values(), "{name}");
        assert_eq!(found.schema().columns(), schema.columns());
        assert_eq!(found.labels(), expected.labels());
        assert_eq!(found.class_names(), expected.class_names());
        assert_eq!(found.counts(), expected.counts());
    }
}

#[test]
fn a_column_of_dates_orders_the_rows() {
    for name in ["table.csv", "snappy.parquet"] {
        let split = Split::Column("day".into());
        let alpha = GrowthRatio::try_new(1.0 / 3.0).unwrap();
        let (data, increment) =
            TabularDataset::split(&read(name), split, alpha, Seed::new(1)).unwrap();
        assert_eq!(increment.new_data(), record().latest_third);
        assert!(
            data.schema()
                .columns()
                .iter()
                .any(|column| column.kind == ColumnKind::Excluded)
        );
    }
}

#[test]
fn parquet_files_that_cannot_be_read() {
    let unreadable = "T: found a Parquet file that cannot be read, expected an intact one, packed by \
                      Snappy, gzip or Zstandard or not packed";
    assert_eq!(
        message("snappy.parquet", &TableOptions::default()),
        "T, row 2, column \"gaps\": found nothing, a missing value, expected a value (or `--missing mean`)"
            .replace("row 2", &format!("row {}", first_gap()))
    );
    let plain = TableOptions::default();
    assert_eq!(
        message("nested.parquet", &plain),
        "T, row 1, column \"list\": found a nested value or bytes that are no text, expected a number or \
         a text (a column can be excluded)"
    );
    let excluded = TableOptions {
        exclude: vec!["list".into()],
        ..plain.clone()
    };
    let table = read_table(path("nested.parquet"), &excluded).unwrap();
    assert_eq!((table.n_rows(), table.column_names()), (2, vec!["number"]));
    let whole = fs::read(path("gzip.parquet")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cut = folder.path().join("cut.parquet");
    for n_bytes in [0, 4, 11, whole.len() / 2, whole.len() - 1] {
        fs::write(&cut, &whole[..n_bytes]).unwrap();
        let error = read_table(&cut, &plain).unwrap_err().to_string();
        assert_eq!(error.replace(&cut.display().to_string(), "T"), unreadable);
    }
}

/// Returns the first row of the text table whose column `gaps` is empty, counted from 1.
fn first_gap() -> usize {
    let text = fs::read_to_string(path("table.csv")).unwrap();
    let is_gap = |line: &str| line.rsplit(',').nth(2) == Some("");
    text.lines().skip(1).position(is_gap).unwrap() + 1
}

/// Some damage goes unnoticed, and some is found: none makes the reader panic.
#[test]
fn no_changed_byte_of_a_parquet_file_makes_the_reader_panic() {
    for name in ["snappy.parquet", "zstd.parquet"] {
        no_changed_byte_of(name);
    }
}

fn no_changed_byte_of(name: &str) {
    let whole = fs::read(path(name)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let damaged = folder.path().join("damaged.parquet");
    let mut n_errors = 0;
    for at in (0..whole.len()).step_by(5) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&damaged, bytes).unwrap();
        n_errors += usize::from(read_table(&damaged, &options()).is_err());
    }
    assert!(n_errors > whole.len() / 50);
}
