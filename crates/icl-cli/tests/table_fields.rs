//! What happens to the fields of a table: parts that hold them to the byte, their order, and columns that are no features.

use std::fs;
use std::path::Path;

use tempfile::tempdir;

use crate::support::{icl, number, record, split};

/// Lines of a file, the first one apart.
fn lines(path: &Path) -> (String, Vec<String>) {
    let text = fs::read_to_string(path).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    (first.to_owned(), rest.lines().map(str::to_owned).collect())
}

/// Writes 40 rows, each second of the evening before, in no order.
fn write_events(path: &Path) -> Vec<String> {
    let row = |at: usize| {
        let at = at * 7 % 40;
        format!(
            "{},{},0{},5820000.{at:02},{}",
            16_777_216 + at,
            1_700_000_100 + at,
            at % 10,
            at % 3
        )
    };
    let rows: Vec<String> = (0..40).map(row).collect();
    fs::write(
        path,
        format!("id,seconds,code,metres,k\n{}\n", rows.join("\n")),
    )
    .unwrap();
    rows
}

#[test]
fn parts_hold_the_fields_of_the_table() {
    let at = tempdir().unwrap();
    let at = at.path();
    let rows = write_events(&at.join("t.csv"));
    icl(
        at,
        &split("split --data t.csv --alpha 0.3 --split column:seconds --out parts"),
    )
    .succeeded();
    let [(names, old), (_, new)] =
        ["old", "new"].map(|part| lines(&at.join("parts").join(part).join("t.csv")));
    assert_eq!(names, "id,seconds,code,metres,k");
    let part = |is_new: bool| -> Vec<&String> {
        let is_late = |row: &&String| row[9..19].parse::<u32>().unwrap() >= 1_700_000_128;
        rows.iter().filter(|row| is_late(row) == is_new).collect()
    };
    assert_eq!(
        (old.iter().collect(), new.iter().collect()),
        (part(false), part(true))
    );
}

#[test]
fn parts_of_a_table_say_how_to_read_them() {
    let at = tempdir().unwrap();
    let at = at.path();
    // Names that are numbers, missing values, and a column that numbers the rows.
    let rows: String = (0..12)
        .map(|row| format!("{row},{},?\n", row * row % 5))
        .collect();
    fs::write(at.join("years.csv"), format!("id,2019,2020\n{rows}")).unwrap();
    let ran = icl(
        at,
        &split("split --data years.csv --header yes --out parts"),
    )
    .succeeded();
    assert!(
        ran.stderr
            .contains("note: read what was written with --header yes"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr
            .contains("column id numbers the rows of the whole table"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr
            .contains("read what was written with --exclude 'id'"),
        "{}",
        ran.stderr
    );
    let (names, old) = lines(&at.join("parts/old/years.csv"));
    let (_, new) = lines(&at.join("parts/new/years.csv"));
    assert_eq!((&*names, old.len() + new.len()), ("id,2019,2020", 12));
    assert!(old.iter().all(|row| rows.contains(row)));
    // Read as values, the names are no numbers, or guessed to be some.
    icl(at, &split("split --data years.csv --out guessed")).rejected(
        "years.csv, line 1, column \"1\": found \"id\", expected a number, as in most rows of this column (or `--header yes`, \
         if the first line holds names)",
    );
    let guessed = icl(
        at,
        &split("split --data years.csv --exclude 1 --out guessed"),
    )
    .succeeded();
    let note = "note: years: the first line was read as values (`--header yes` reads it as the names of the columns)";
    assert!(guessed.stderr.contains(note), "{}", guessed.stderr);
}

#[test]
fn dates_that_are_not_in_order_split_nothing() {
    let at = tempdir().unwrap();
    let at = at.path();
    let rows: String = (1..=28)
        .map(|day| {
            format!(
                "{day:02}.0{}.2025,{},{}\n",
                1 + day % 2,
                day * day % 11,
                day % 3
            )
        })
        .collect();
    fs::write(at.join("t.csv"), format!("day,a,b\n{rows}")).unwrap();
    let expected = "\"t\", column \"day\": found \"01.02.2025\", a date whose text is not in the order of time, expected its \
                    form \"2025-02-01\"";
    icl(
        at,
        &split("split --data t.csv --split column:day --out parts"),
    )
    .rejected(expected);
    for line in [
        "run --data t.csv --split column:day --method warm --epochs 1 --out out",
        "stream --data t.csv --split time:day:3 --epochs 1 --out out",
    ] {
        icl(at, &split(line)).rejected_in_last_line(expected);
    }
    assert!(!at.join("parts").exists() && !at.join("out").exists());
}

#[test]
fn an_order_of_texts_is_named() {
    let at = tempdir().unwrap();
    let at = at.path();
    let note = "note: t, column when: rows are ordered by its text, character by character";
    for (out, values, is_text) in [
        (
            "names",
            ["31 janv. 2025", "2 févr. 2025", "1 mars 2025"],
            true,
        ),
        ("mixed", ["10", "9", "n. d."], true),
        ("dates", ["2025-01-31", "2025-02-01", "2025-03-01"], false),
        ("numbers", ["10", "9", "1e1"], false),
    ] {
        let rows: String = (0..12)
            .map(|row| format!("{},{}\n", values[row % 3], row * row % 7))
            .collect();
        fs::write(at.join("t.csv"), format!("when,a\n{rows}")).unwrap();
        let line = format!("split --data t.csv --split column:when --out {out}");
        let stderr = icl(at, &split(&line)).succeeded().stderr;
        assert_eq!(stderr.contains(note), is_text, "{out}: {stderr}");
    }
}

#[test]
fn a_column_that_numbers_the_rows_is_no_feature() {
    let at = tempdir().unwrap();
    let at = at.path();
    let table = |names: &str, has_index: bool| {
        let row = |row: usize| {
            let index = if has_index {
                format!("{row},")
            } else {
                String::new()
            };
            format!("{index}{},{},c{}\n", row * 7 % 13, row * row % 11, row % 2)
        };
        format!("{names}\n{}", (0..40).map(row).collect::<String>())
    };
    fs::write(at.join("pandas.csv"), table(",a,b,class", true)).unwrap();
    fs::write(at.join("plain.csv"), table("a,b,class", false)).unwrap();
    let train = |name: &str| {
        let line = format!(
            "train --data {name}.csv --target class --epochs 2 --layers 2 --width 8 --batch-size 16 --seed 1 --out {name}"
        );
        icl(at, &split(&line)).succeeded()
    };
    let ran = train("pandas");
    assert!(
        ran.stderr
            .contains("; left out, since they number the rows: 1"),
        "{}",
        ran.stderr
    );
    let plain = train("plain");
    assert!(
        !plain.stderr.contains("number the rows"),
        "{}",
        plain.stderr
    );
    for key in ["risk.all", "parameter_change"] {
        let [a, b] = ["pandas", "plain"].map(|name| record(&at.join(name)));
        if a.pointer(&format!("/{}", key.replace('.', "/"))).is_some() {
            assert_eq!(number(&a, key), number(&b, key), "{key}");
        }
    }
    // Each encoder takes the other table.
    for (encoder, data) in [("pandas", "plain"), ("plain", "pandas")] {
        let line = format!(
            "embed --from {encoder}/encoder.safetensors --data {data}.csv --target class --out {data}-e.csv"
        );
        icl(at, &split(&line)).succeeded();
    }
    let [a, b] = ["plain", "pandas"].map(|data| {
        let text = fs::read_to_string(at.join(format!("{data}-e.csv"))).unwrap();
        // The other columns but the digest of the encoder.
        let row = |line: &str| {
            let mut fields: Vec<String> = line.split(',').map(str::to_owned).collect();
            fields.remove(2);
            fields
        };
        text.lines().map(row).collect::<Vec<_>>()
    });
    assert_eq!(a, b);
}

#[test]
fn embeddings_of_pandas_are_diagnosed_without_their_index() {
    let at = tempdir().unwrap();
    let at = at.path();
    let value = |set: usize, row: usize, column: usize| {
        let angle = (set * 3 + row * 7 + column * 5) as f64;
        (angle.sin() * 1000.0).round() / 1000.0
    };
    for (set, name) in ["a", "p", "o", "n"].into_iter().enumerate() {
        let line = |row: usize| {
            (0..3)
                .map(|column| value(set, row, column).to_string())
                .collect::<Vec<_>>()
                .join(",")
        };
        let rows: Vec<String> = (0..20).map(line).collect();
        fs::write(
            at.join(format!("{name}.csv")),
            format!("x,y,z\n{}\n", rows.join("\n")),
        )
        .unwrap();
        let indexed: Vec<String> = rows
            .iter()
            .enumerate()
            .map(|(row, line)| format!("{row},{line}"))
            .collect();
        fs::write(
            at.join(format!("{name}i.csv")),
            format!(",x,y,z\n{}\n", indexed.join("\n")),
        )
        .unwrap();
    }
    let diagnose = |ending: &str| {
        let line = format!(
            "diagnose --anchors a{ending} --positives p{ending} --old o{ending} --new n{ending} --temperature 0.5"
        );
        icl(at, &split(&line)).succeeded()
    };
    let (plain, indexed) = (diagnose(".csv"), diagnose("i.csv"));
    assert_eq!(indexed.stdout, plain.stdout);
    assert!(
        indexed
            .stderr
            .contains("note: ai: column 1 numbers the rows, and is left out"),
        "{}",
        indexed.stderr
    );
}

#[test]
fn a_first_line_of_texts_is_named() {
    let at = tempdir().unwrap();
    let at = at.path();
    let rows: String = (0..20)
        .map(|row| format!("rain in may {row},it rains a lot {row}\n"))
        .collect();
    fs::write(at.join("t.csv"), format!("title,body\n{rows}")).unwrap();
    let ran = icl(
        at,
        &split("split --data t.csv --texts title,body --out parts"),
    )
    .succeeded();
    let note = "note: t: the first line was read as the names of the columns (`--header no` reads it as values)";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    let ran = icl(
        at,
        &split("split --data t.csv --texts title,body --header yes --out told"),
    )
    .succeeded();
    assert!(!ran.stderr.contains("first line"), "{}", ran.stderr);
}
