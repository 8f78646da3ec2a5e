//! Errors of malformed tables, which name the file, the line and the column.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use icl_data::{Header, Missing, TableOptions, read_table};

/// Returns the message of the error of reading a file `t.csv` with these contents, in which `T` stands
/// for its path.
fn message_of(bytes: &[u8], options: &TableOptions) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    fs::write(&path, bytes).unwrap();
    let error = read_table(&path, options).unwrap_err();
    error.to_string().replace(&path.display().to_string(), "T")
}

#[track_caller]
fn rejected(text: &str, message: &str) {
    let options = TableOptions::default();
    assert_eq!(message_of(text.as_bytes(), &options), message);
}

#[track_caller]
fn rejected_with_target(text: &str, target: &str, message: &str) {
    let options = TableOptions {
        target: Some(target.into()),
        ..TableOptions::default()
    };
    assert_eq!(message_of(text.as_bytes(), &options), message);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn paths_that_are_no_tables() {
    let folder = tempfile::tempdir().unwrap();
    let message = |name: &str| {
        let path = folder.path().join(name);
        let error = read_table(&path, &TableOptions::default()).unwrap_err();
        error.to_string().replace(&path.display().to_string(), "T")
    };
    let expected = "a file `NAME.csv` or `NAME.tsv`, plain or with `.gz`, or `NAME.parquet`";
    assert_eq!(
        message("no.csv"),
        format!("T: found no such file, expected a table: {expected}")
    );
    fs::write(folder.path().join("x.txt"), "1,2").unwrap();
    assert_eq!(
        message("x.txt"),
        format!("T: found a name with another ending, expected {expected}")
    );
    fs::create_dir(folder.path().join("d.csv")).unwrap();
    assert!(message("d.csv").starts_with("T: found a file or folder that cannot be read"));
}

#[test]
fn nothing_to_read() {
    rejected("", "T: found an empty table, expected rows of values");
    rejected(
        "\n\r\n\n",
        "T: found an empty table, expected rows of values",
    );
    rejected(
        "\u{feff}",
        "T: found an empty table, expected rows of values",
    );
    let header = "T: found a header and no rows, expected at least one row";
    rejected("a,b\n", header);
    rejected_with_target(
        "a\n1\n2\n",
        "a",
        "\"t\": found no feature among the columns, expected at least one that is not constant",
    );
    let options = TableOptions {
        header: Header::Yes,
        ..TableOptions::default()
    };
    assert_eq!(message_of(b"1,2", &options), header);
}

#[test]
fn rows_of_another_width() {
    rejected(
        "a,b,c\n1,2,3\n\n4,5\n",
        "T, line 4: found 2 values, expected 3, as on the first line",
    );
    // CRLF, and a value over two lines.
    rejected(
        "a,b,c\r\n1,2,\"x\r\ny\"\r\n\r\n1,2,3,4\r\n",
        "T, line 5: found 4 values, expected 3, as on the first line",
    );
    // A file that is cut within a line.
    rejected(
        "1,2,3\n1,2,3\n1,2",
        "T, line 3: found 2 values, expected 3, as on the first line",
    );
}

#[test]
fn quotes_that_never_end() {
    let open = "found a quote that is never closed, expected a second one after the value";
    rejected("a,b\n1,\"x\n2,y\n3,z\n", &format!("T, line 2: {open}"));
    rejected("\"a,b\n1,2\n", &format!("T, line 1: {open}"));
    rejected("a,b\n1,\"x\"\"\n", &format!("T, line 2: {open}"));
}

#[test]
fn values_that_are_no_numbers() {
    let rows: String = (0..30).map(|row| format!("{row},1\n")).collect();
    rejected(
        &format!("a,b\n{rows}oops,2\nagain,3\n"),
        "T, line 32, column \"a\": found \"oops\", expected a number, as in most rows of this column",
    );
    rejected(
        &format!("a,b\n{rows}\"3,14\",2\n"),
        "T, line 32, column \"a\": found \"3,14\", expected a number, as in most rows of this column (written as 3.14, it is \
         one)",
    );
    rejected(
        &format!("id,2019\n{rows}"),
        "T, line 1, column \"1\": found \"id\", expected a number, as in most rows of this column (or `--header yes`, if the \
         first line holds names)",
    );
    rejected(
        "1,2\n3,inf\n",
        "T, line 2, column \"2\": found \"inf\", expected a finite number of at most 3.4e38",
    );
    rejected(
        "1,2\n3,1e39\n",
        "T, line 2, column \"2\": found \"1e39\", expected a finite number of at most 3.4e38",
    );
}

#[test]
fn missing_values() {
    for (text, found) in [
        ("", "nothing"),
        ("NA", "\"NA\""),
        ("NaN", "\"NaN\""),
        ("?", "\"?\""),
        (" n/a ", "\"n/a\""),
        ("null", "\"null\""),
    ] {
        rejected(
            &format!("a,b\n1,2\n{text},3\n"),
            &format!(
                "T, line 3, column \"a\": found {found}, a missing value, expected a value (or `--missing mean`)"
            ),
        );
    }
    let options = TableOptions {
        target: Some("b".into()),
        missing: Missing::Mean,
        ..TableOptions::default()
    };
    assert_eq!(
        message_of(b"a,b\n1,x\n2,?\n", &options),
        "T, line 3, column \"b\": found \"?\", a missing value, expected the class of the row"
    );
}

#[test]
fn columns_that_cannot_be_told_apart_or_found() {
    rejected(
        "a,b,a\n1,2,3\n",
        "T: found columns 1 and 3 with the name \"a\", expected different names",
    );
    for target in ["c", "0", "3", "A"] {
        rejected_with_target(
            "a,b\n1,2\n",
            target,
            &format!(
                "\"t\": found no column \"{target}\", expected one of a, b, or a number from 1"
            ),
        );
    }
    rejected_with_target(
        "a,b\n1,2\n1,2.5\n",
        "2",
        "T, line 3, column \"b\": found \"2.5\" as target, expected a class: a name or a whole number",
    );
    let options = TableOptions {
        exclude: vec!["z".into()],
        ..TableOptions::default()
    };
    assert!(message_of(b"a,b\n1,2\n", &options).contains("found no column \"z\""));
}

#[test]
fn too_many_columns() {
    let line = vec!["1"; 1_000_000].join(",");
    rejected(&line, "T: found 1000000 columns, expected at most 65536");
    let below = format!("a,b\n1,2\n{line}\n");
    rejected(&below, "T: found 1000000 columns, expected at most 65536");
}

#[test]
fn bytes_that_are_no_text() {
    assert_eq!(
        message_of(b"a,b\n1,2\n3,\xff\n", &TableOptions::default()),
        "T, line 3: found byte 10 that is not UTF-8, expected text"
    );
}

#[test]
fn damaged_gzip_files() {
    let whole = gzip("a,b\n1,2\n".repeat(100).as_bytes());
    let damaged = "T: found a cut or damaged gzip file, expected an intact one";
    let options = TableOptions::default();
    for n_bytes in [2, 10, whole.len() / 2, whole.len() - 1] {
        assert_eq!(message_of(&whole[..n_bytes], &options), damaged);
    }
    let mut flipped = whole.clone();
    let last = flipped.len() - 6;
    flipped[last] ^= 1;
    assert_eq!(message_of(&flipped, &options), damaged);
}

#[test]
fn a_gzip_bomb() {
    // 100 MiB of zeros in about 100 KiB.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    for _ in 0..100 {
        encoder.write_all(&vec![b'0'; 1 << 20]).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    assert_eq!(
        message_of(&bomb, &TableOptions::default()),
        "T: found more than 67108864 bytes, expected at most that many"
    );
}

#[test]
fn rejected_selections() {
    let options = |classes: &[&str], limit| TableOptions {
        target: Some("c".into()),
        classes: classes.iter().map(|class| (*class).to_owned()).collect(),
        limit,
        ..TableOptions::default()
    };
    let text = b"a,c\n1,x\n2,y\n";
    assert_eq!(
        message_of(text, &options(&["z"], None)),
        "data set \"t\": found no class \"z\", expected classes among x, y"
    );
    assert_eq!(
        message_of(text, &options(&["x", "x"], None)),
        "data set \"t\": found class \"x\" twice, expected each of x, y at most once"
    );
    assert_eq!(
        message_of(text, &options(&[], Some(3))),
        "limit: found 3 rows, expected at least 4"
    );
}
