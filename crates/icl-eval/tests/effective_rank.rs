//! The effective rank against NumPy, on values of `scripts/reference/effective_rank.py`.

use icl_eval::{Matrix, effective_rank};
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    rows: Vec<Vec<f64>>,
    rank: f64,
}

fn cases() -> Vec<Case> {
    let text = include_str!("reference/effective_rank.json");
    let reference: Reference = serde_json::from_str(text).unwrap();
    reference.cases
}

fn matrix(rows: &[Vec<f64>], scale: f64) -> Matrix {
    let values = rows.concat().iter().map(|value| scale * value).collect();
    Matrix::try_new(values, rows[0].len()).unwrap()
}

#[test]
fn ranks_are_those_of_numpy() {
    let cases = cases();
    assert_eq!(cases.len(), 5);
    for Case { name, rows, rank } in cases {
        for scale in [1.0, 1e-3, -7.0] {
            let found = effective_rank(&matrix(&rows, scale));
            assert!(
                (found - rank).abs() < 1e-9 * rank,
                "{name}: {found}, {rank}"
            );
        }
    }
}

#[test]
fn one_direction_has_rank_1_and_none_has_rank_0() {
    let line: Vec<Vec<f64>> = (0..9)
        .map(|i| vec![f64::from(i), f64::from(3 * i)])
        .collect();
    assert!((effective_rank(&matrix(&line, 1.0)) - 1.0).abs() < 1e-9);
    assert_eq!(effective_rank(&matrix(&line, 0.0)), 0.0);
    let empty = Matrix::try_new(Vec::new(), 3).unwrap();
    assert_eq!(effective_rank(&empty), 0.0);
}
