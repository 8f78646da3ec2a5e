//! Values far outside the range of an encoder's own data: they are named, and cannot ruin the encoder.

use std::fs;
use std::path::Path;

use tempfile::tempdir;

use crate::support::toys::{NEW, OLD, Toys};
use crate::support::{embedded, icl, number, record, split};

/// A small encoder.
const SMALL: &str = "--epochs 3 --layers 2 --width 8 --batch-size 16 --seed 1";

/// Writes a table of three columns of numbers; `price` of row 5 is `cell`.
fn write(at: &Path, name: &str, rows: std::ops::Range<usize>, cell: &str) {
    let mut text = "price,size,weight\n".to_owned();
    for row in rows.clone() {
        let [a, b, c] = [7, 11, 13].map(|by| (row * by % 17) as f64 / 4.0);
        let price = if row == rows.start + 4 {
            cell.to_owned()
        } else {
            a.to_string()
        };
        text += &format!("{price},{b},{c}\n");
    }
    fs::write(at.join(name), text).unwrap();
}

/// The embeddings of a data set.
fn embeddings(at: &Path, encoder: &str, data: &str) -> Vec<Vec<f64>> {
    let line =
        format!("embed --from {encoder}/encoder.safetensors --data {data} --out e.csv --force");
    icl(at, &split(&line)).succeeded();
    let text = fs::read_to_string(at.join("e.csv")).unwrap();
    embedded(&text)
}

/// The mean cosine of two different rows, by a loop over all pairs.
fn mean_cosine(rows: &[Vec<f64>]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut cosines = Vec::new();
    for (at, a) in rows.iter().enumerate() {
        for b in &rows[..at] {
            cosines.push(dot(a, b) / (dot(a, a) * dot(b, b)).sqrt());
        }
    }
    cosines.iter().sum::<f64>() / cosines.len() as f64
}

/// A cell of the first data is named, whether some of them are held out or all are trained on.
#[test]
fn one_cell_of_the_first_data_is_clipped_and_named() {
    let at = tempdir().unwrap();
    let at = at.path();
    write(at, "old.csv", 0..120, "-99999");
    for hold_out in ["0", "0.1"] {
        let line =
            format!("train --data old.csv {SMALL} --hold-out {hold_out} --out first --force");
        let ran = icl(at, &split(&line)).succeeded();
        let named = "note: old: row 5, column price: found -99999, ";
        assert!(ran.stderr.contains(named), "{hold_out}: {}", ran.stderr);
    }
}

#[test]
fn one_cell_of_the_new_data_is_clipped_and_named() {
    let at = tempdir().unwrap();
    let at = at.path();
    write(at, "old.csv", 0..120, "1");
    icl(
        at,
        &split(&format!("train --data old.csv {SMALL} --out first")),
    )
    .succeeded();
    let update = |options: &str| {
        let line = "update --from first/encoder.safetensors --old old.csv --new new.csv --epochs 3 --batch-size 16";
        icl(at, &split(&format!("{line} {options}")))
    };
    write(at, "new.csv", 120..160, "1");
    update("--out plain").succeeded();
    assert_eq!(number(&record(&at.join("plain")), "n_clipped"), 0.0);
    let of_plain = mean_cosine(&embeddings(at, "plain", "old.csv"));
    for cell in ["-99999", "1e30", "-3.4e38"] {
        write(at, "new.csv", 120..160, cell);
        let ran = update("--out clipped --force").succeeded();
        let named = format!("note: new: row 5, column price: found {cell}, ");
        assert!(ran.stderr.contains(&named), "{}", ran.stderr);
        assert!(
            ran.stderr
                .contains("1 values outside the range of the encoder's data were clipped")
        );
        assert!(
            ran.stdout.contains("1 value of the data outside the range"),
            "{}",
            ran.stdout
        );
        assert_eq!(number(&record(&at.join("clipped")), "n_clipped"), 1.0);
        // A single row of 160 moves the embeddings of the others a little.
        let found = mean_cosine(&embeddings(at, "clipped", "old.csv"));
        assert!(
            (found - of_plain).abs() < 0.1,
            "{cell}: {found}, and {of_plain} without it"
        );
        // The same row for use.
        embeddings(at, "clipped", "new.csv");

        update("--outliers error --out none")
            .rejected_in_last_line("data set \"new\": row 5, column price");
        assert!(!at.join("none").exists());
    }
    // Kept, they may ruin an encoder: then nothing is written.
    let ran = update("--outliers keep --out kept");
    assert!(ran.stderr.contains("were kept"), "{}", ran.stderr);
    assert_eq!(ran.code == Some(0), at.join("kept").exists());
    if at.join("kept").exists() {
        assert!(mean_cosine(&embeddings(at, "kept", "old.csv")) < 0.9999);
    }
}

#[test]
fn a_sentinel_in_the_first_data_does_not_count_in_the_statistics() {
    let at = tempdir().unwrap();
    let at = at.path();
    write(at, "clean.csv", 0..120, "1");
    write(at, "old.csv", 0..120, "-99999");
    let ran = icl(
        at,
        &split(&format!("train --data old.csv {SMALL} --out first")),
    )
    .succeeded();
    let note = "note: old: row 5, column price: found -99999, ";
    assert_eq!(ran.stderr.matches(note).count(), 1, "{}", ran.stderr);
    let rows = embeddings(at, "first", "clean.csv");
    assert!(mean_cosine(&rows) < 0.9, "{}", mean_cosine(&rows));
    // Rows that differ in the price alone are told apart.
    fs::write(at.join("two.csv"), "price,size,weight\n0,1,1\n4,1,1\n").unwrap();
    let two = embeddings(at, "first", "two.csv");
    assert!(mean_cosine(&two) < 0.9999, "{}", mean_cosine(&two));
}

#[test]
fn an_experience_with_one_absurd_cell_does_not_ruin_a_stream() {
    let at = tempdir().unwrap();
    let at = at.path();
    let rows = |name: &str, rows, cell: &str| write(at, name, rows, cell);
    rows("1.csv", 0..60, "1");
    rows("2.csv", 60..100, "-99999");
    rows("3.csv", 100..140, "1");
    let manifest = "schema = 1\n[[experience]]\nname = \"1\"\ndata = \"1.csv\"\n[[experience]]\nname = \"2\"\ndata = \"2.csv\"\n\
                    [[experience]]\nname = \"3\"\ndata = \"3.csv\"\n";
    fs::write(at.join("s.toml"), manifest).unwrap();
    let line = format!("stream --stream s.toml {SMALL} --out s");
    let ran = icl(at, &split(&line)).succeeded();
    assert!(
        ran.stderr
            .contains("note: 2: row 5, column price: found -99999, "),
        "{}",
        ran.stderr
    );
    let mut folders: Vec<_> = fs::read_dir(at.join("s"))
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    folders.retain(|path| path.join("encoder.safetensors").exists());
    assert!(!folders.is_empty());
    for folder in folders {
        let rows = embeddings(at, folder.to_str().unwrap(), "1.csv");
        assert!(
            mean_cosine(&rows) < 0.95,
            "{}: {}",
            folder.display(),
            mean_cosine(&rows)
        );
    }
}

#[test]
fn attributes_of_graphs_are_clipped_by_the_encoders_own_columns() {
    let at = tempdir().unwrap();
    let at = at.path();
    let [old, new] = [("OLD", OLD), ("NEW", NEW)].map(|(name, toys)| {
        Toys {
            n_labels: 0,
            ..toys
        }
        .write(at, name);
        at.join(name)
    });
    for folder in [&old, &new] {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let indicator =
            fs::read_to_string(folder.join(format!("{name}_graph_indicator.txt"))).unwrap();
        let attribute =
            |(node, _): (usize, &str)| format!("{}, {}\n", node * 7 % 17, node * 5 % 11);
        let text: String = indicator.lines().enumerate().map(attribute).collect();
        fs::write(folder.join(format!("{name}_node_attributes.txt")), text).unwrap();
    }
    let small = "--epochs 2 --layers 2 --width 8 --batch-size 16 --seed 1";
    icl(at, &split(&format!("train --data OLD {small} --out first"))).succeeded();
    // The same graphs have the same embeddings, whatever they come with.
    let alone = embeddings(at, "first", "OLD");
    let path = new.join("NEW_node_attributes.txt");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("0, 0\n", "-99999, 0\n", 1)).unwrap();
    let line = "update --from first/encoder.safetensors --old OLD --new NEW --epochs 2 --batch-size 16 --out second";
    let ran = icl(at, &split(line)).succeeded();
    let named = "note: NEW: graph 1, node 1, attribute 1: found -99999, ";
    assert!(ran.stderr.contains(named), "{}", ran.stderr);
    assert_eq!(number(&record(&at.join("second")), "n_clipped"), 1.0);
    assert!(mean_cosine(&embeddings(at, "second", "OLD")) < 0.9999);
    assert_eq!(embeddings(at, "first", "OLD"), alone);
    // New graphs by themselves are standardised by the encoder's own columns, not by their own.
    let all = embeddings(at, "first", "NEW");
    let few = {
        let line = "embed --from first/encoder.safetensors --data NEW --limit 6 --out few.csv";
        icl(at, &split(line)).succeeded();
        fs::read_to_string(at.join("few.csv")).unwrap()
    };
    let first = &embedded(&few)[0];
    assert!(
        all.iter()
            .any(|row| row.iter().zip(first).all(|(a, b)| (a - b).abs() < 1e-5))
    );
}
