//! Columns of vectors in Parquet files that pyarrow wrote (`scripts/reference/vectors.py`), and in our own.

use std::fs;
use std::path::{Path, PathBuf};

use icl_data::{TableOptions, read_table, read_vectors, vectors_as_csv, vectors_as_parquet};
use serde_json::Value;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/reference/vectors/{name}.parquet"))
}

#[test]
fn lists_of_either_kind_are_vectors() {
    let text = fs::read_to_string(path("x").with_file_name("vectors.json")).unwrap();
    let expected: Value = serde_json::from_str(&text).unwrap();
    let rows = expected["values"].as_array().unwrap().iter();
    let expected: Vec<f64> = rows
        .flat_map(|row| row.as_array().unwrap())
        .map(|value| value.as_f64().unwrap())
        .collect();
    // Of two columns of lists, `embedding` is taken.
    for name in ["list", "fixed"] {
        let found = read_vectors(path(name)).unwrap().unwrap();
        assert_eq!((found.n_rows, found.d), (7, 3), "{name}");
        assert_eq!(found.values, expected, "{name}");
    }
}

#[test]
fn what_is_no_column_of_vectors_is_named() {
    for (name, message) in [
        (
            "several",
            "column \"b\": found a second column of lists, expected one, or one named embedding",
        ),
        (
            "ragged",
            "row 2, column \"vector\": found 1 values, expected 2",
        ),
        (
            "whole",
            "row 1, column \"vector\": found no floating-point number at place 1, expected only floating-point numbers",
        ),
        (
            "missing",
            "row 2, column \"vector\": found no list, expected a list of floats",
        ),
    ] {
        let found = read_vectors(path(name)).unwrap_err().to_string();
        assert!(found.ends_with(message), "{found}");
    }
    let at = tempfile::tempdir().unwrap();
    let cut = at.path().join("cut.parquet");
    let whole = fs::read(path("list")).unwrap();
    for n in [0, 4, whole.len() / 2, whole.len() - 1] {
        fs::write(&cut, &whole[..n]).unwrap();
        assert!(read_vectors(&cut).is_err(), "{n}");
    }
}

#[test]
fn our_own_files_read_back_to_the_bit() {
    let at = tempfile::tempdir().unwrap();
    let values = [1.5_f32, -0.0, f32::MIN_POSITIVE, 1e30, 0.1, -7.25];
    let texts = |texts: [&str; 2]| texts.map(str::to_owned);
    let (ids, labels) = (texts(["a/1.jpg", "4"]), texts(["bees, wasps", "\"ants\""]));
    for columns in [&[][..], &[("id", &ids[..]), ("the label", &labels)]] {
        let file = at.path().join("own.parquet");
        let bytes = vectors_as_parquet((&values, 3), columns).unwrap();
        assert_eq!(bytes, vectors_as_parquet((&values, 3), columns).unwrap());
        fs::write(&file, bytes).unwrap();
        let found = read_vectors(&file).unwrap().unwrap();
        assert_eq!((found.n_rows, found.d), (2, 3));
        let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<u64>>();
        assert_eq!(bits(found.values), bits(values.map(f64::from).to_vec()));
        let texts = at.path().join("own.csv");
        fs::write(&texts, vectors_as_csv((&values, 3), columns).unwrap()).unwrap();
        let next_to = TableOptions {
            exclude: vec!["embedding".to_owned()],
            ..TableOptions::default()
        };
        if columns.is_empty() {
            let numbers = read_table(&texts, &TableOptions::default()).unwrap();
            assert_eq!(numbers.column_names(), ["e0", "e1", "e2"]);
            assert_eq!(numbers.numbers().unwrap(), values);
            continue;
        }
        for table in [
            read_table(&file, &next_to).unwrap(),
            read_table(&texts, &TableOptions::default()).unwrap(),
        ] {
            assert_eq!(table.texts("id").unwrap(), ids);
            assert_eq!(table.texts("the label").unwrap(), labels);
        }
    }
    // A table of columns is none of vectors.
    let table = path("x").with_file_name("../tables/gzip.parquet");
    assert!(read_vectors(table).unwrap().is_none());
}
