//! Encoders that a command has written with exit code 0 can be read, and tell the old data apart, whatever the tables hold.

use std::fs;
use std::path::Path;

use icl_core::Seed;
use rand::{Rng, RngExt};
use tempfile::tempdir;

use crate::support::{embedded, icl, split};

/// Number of generated tables.
const N_TABLES: u64 = 12;
/// Values that are slips or stand for missing ones, and extremes of single precision.
const ABSURD: [&str; 6] = ["-99999", "1e30", "-3.4e38", "1e-44", "9999999999", "-1"];

/// A column: its values are `offset + scale * x` of a draw x, or one of two names.
enum Column {
    Numbers {
        offset: f64,
        scale: f64,
        is_skewed: bool,
    },
    Names,
}

fn column(rng: &mut impl Rng) -> Column {
    match rng.random_range(0..4) {
        0 => Column::Names,
        kind => {
            let power = rng.random_range(-12..13);
            let scale = 10.0_f64.powi(power);
            Column::Numbers {
                offset: if kind == 1 { 1e6 * scale } else { 0.0 },
                scale,
                is_skewed: kind == 2,
            }
        }
    }
}

fn cell(column: &Column, rng: &mut impl Rng) -> String {
    match column {
        Column::Names => ["red", "green"][rng.random_range(0..2)].to_owned(),
        Column::Numbers {
            offset,
            scale,
            is_skewed,
        } => {
            let x: f64 = rng.random_range(-1.0..1.0);
            let x = if *is_skewed { (4.0 * x).exp() } else { x };
            (offset + scale * x).to_string()
        }
    }
}

/// Writes `n` rows, in which `n_absurd` cells of numbers are absurd.
fn write(path: &Path, columns: &[Column], n: usize, n_absurd: usize, rng: &mut impl Rng) {
    let mut rows: Vec<Vec<String>> = (0..n)
        .map(|_| columns.iter().map(|it| cell(it, rng)).collect())
        .collect();
    for _ in 0..n_absurd {
        let (row, at) = (rng.random_range(0..n), rng.random_range(0..columns.len()));
        if matches!(columns[at], Column::Numbers { .. }) {
            rows[row][at] = ABSURD[rng.random_range(0..ABSURD.len())].to_owned();
        }
    }
    let names: Vec<String> = (0..columns.len()).map(|at| format!("c{at}")).collect();
    let rows: String = rows.iter().map(|row| row.join(",") + "\n").collect();
    fs::write(path, format!("{}\n{rows}", names.join(","))).unwrap();
}

/// The mean cosine of two different rows of embeddings in a table, by a loop over all pairs.
fn mean_cosine(table: &str) -> f64 {
    let rows = embedded(table);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut cosines = Vec::new();
    for (at, a) in rows.iter().enumerate() {
        assert!(a.iter().all(|value| value.is_finite()));
        for b in &rows[..at] {
            let lengths = (dot(a, a) * dot(b, b)).sqrt();
            cosines.push(if lengths == 0.0 {
                0.0
            } else {
                dot(a, b) / lengths
            });
        }
    }
    cosines.iter().sum::<f64>() / cosines.len() as f64
}

#[test]
fn what_is_written_can_be_read_and_has_not_collapsed() {
    let at = tempdir().unwrap();
    let at = at.path();
    let mut n_written = 0;
    for seed in 0..N_TABLES {
        let mut rng = Seed::new(seed).child("tables").rng();
        let columns: Vec<Column> = (0..rng.random_range(2..6))
            .map(|_| column(&mut rng))
            .collect();
        write(
            &at.join("old.csv"),
            &columns,
            120,
            (seed % 2) as usize,
            &mut rng,
        );
        write(
            &at.join("new.csv"),
            &columns,
            40,
            1 + (seed % 3) as usize,
            &mut rng,
        );
        let method = ["icl", "warm", "inference", "retraining"][seed as usize % 4];
        let small = "--epochs 2 --batch-size 16";
        for (out, line) in [
            (
                format!("first{seed}"),
                format!("train --data old.csv {small} --layers 2 --width 8 --out first{seed}"),
            ),
            (
                format!("next{seed}"),
                format!(
                    "update --from first{seed}/encoder.safetensors --old old.csv --new new.csv --method {method} {small} \
                     --out next{seed}"
                ),
            ),
        ] {
            let ran = icl(at, &split(&line));
            if ran.code != Some(0) {
                assert_eq!(ran.code, Some(2), "table {seed}: {}", ran.stderr);
                assert!(!at.join(&out).exists());
                break;
            }
            n_written += 1;
            for data in ["old.csv", "new.csv"] {
                let line = format!(
                    "embed --from {out}/encoder.safetensors --data {data} --out e.csv --force"
                );
                icl(at, &split(&line)).succeeded();
                let found = mean_cosine(&fs::read_to_string(at.join("e.csv")).unwrap());
                assert!(
                    data == "new.csv" || found < 0.999,
                    "table {seed}, {out}: {found}"
                );
            }
        }
    }
    assert!(n_written as u64 > 3 * N_TABLES / 2, "{n_written}");
}
