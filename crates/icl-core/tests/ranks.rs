//! Ranks of the exact risk against scikit-learn (`scripts/reference/ranks.py`) and against double loops.

use burn::tensor::{DType, Tensor, TensorData};
use icl_core::negatives::Rank;
use icl_core::testing::{TestBackend as B, assert_close, precisions};
use icl_core::{Seed, exact_nce_i_rows, exact_risk, exact_risk_with_rows, ranks_among};
use rand::RngExt;
use serde::Deserialize;

type Rows = Vec<Vec<f64>>;

#[derive(Deserialize)]
struct Reference {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    n_old: usize,
    anchors: Rows,
    positives: Rows,
    aucs: Vec<f64>,
}

fn tensor(rows: &[Vec<f64>], dtype: DType) -> Tensor<B, 2> {
    let data = TensorData::new(rows.concat(), [rows.len(), rows[0].len()]);
    Tensor::from_data(data, (&Default::default(), dtype))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns whole and half counts as the share of the noise that they are.
fn auc(rank: &Rank) -> f64 {
    (rank.below as f64 + rank.tied as f64 / 2.0) / rank.n_noise() as f64
}

#[test]
fn aucs_with_ties_are_those_of_scikit_learn() {
    let reference: Reference = serde_json::from_str(include_str!("reference/ranks.json")).unwrap();
    for case in reference.cases {
        let (n_old, aucs) = (case.n_old, &case.aucs);
        for (dtype, _) in precisions(0.0, 0.0) {
            let [a, p] = [&case.anchors, &case.positives].map(|rows| tensor(rows, dtype));
            // The scores differ in their last bits, the ranks do not: they are counts.
            let (risk, rows) = exact_risk_with_rows(a.clone(), p.clone(), n_old, 0.3, 9.0);
            let found: Vec<f64> = rows.ranks.of_anchors().iter().map(auc).collect();
            assert_close(&found, aucs, 1e-12);
            let found = [risk.auc_all, risk.auc_old, risk.auc_new].map(Option::unwrap);
            let expected = [&aucs[..], &aucs[..n_old], &aucs[n_old..]].map(mean);
            assert_close(&found, &expected, 1e-12);
            // One population has the same ranks, and neither temperature nor K changes them.
            assert_eq!(exact_nce_i_rows(a, p, 0.05, 2.0).ranks, rows.ranks);
        }
    }
}

/// More rows and columns than one chunk holds, with scores next to each other.
#[test]
fn ranks_do_not_depend_on_chunks() {
    let (n_old, n, d) = (2100, 2700, 3);
    let mut rng = Seed::new(16).rng();
    // Few values, so that the directions of many rows are the same.
    let mut draw = |_| -> Vec<f64> { (0..d).map(|_| rng.random_range(-4..5).into()).collect() };
    let anchors: Rows = (0..n).map(&mut draw).collect();
    let positives: Rows = (0..n).map(&mut draw).collect();
    let unit = |rows: &Rows| -> Rows {
        let one = |row: &Vec<f64>| {
            let length = row.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-300);
            row.iter().map(|x| x / length).collect()
        };
        rows.iter().map(one).collect()
    };
    let (a, p) = (unit(&anchors), unit(&positives));
    let score = |i: usize, j: usize| a[i].iter().zip(&p[j]).map(|(x, y)| x * y).sum::<f64>();
    let expected: Vec<Rank> = (0..n)
        .map(|i| {
            let mut rank = Rank {
                below: 0,
                tied: 0,
                above: 0,
            };
            for j in (0..n).filter(|&j| j != i) {
                match score(i, j) - score(i, i) {
                    distance if distance.abs() < 1e-9 => rank.tied += 1,
                    distance if distance < 0.0 => rank.below += 1,
                    _ => rank.above += 1,
                }
            }
            rank
        })
        .collect();
    assert!(expected.iter().filter(|rank| rank.tied > 0).count() > n / 2);
    for (dtype, _) in precisions(0.0, 0.0) {
        let [a, p] = [&anchors, &positives].map(|rows| tensor(rows, dtype));
        let (_, rows) = exact_risk_with_rows(a.clone(), p.clone(), n_old, 0.2, 31.0);
        assert_eq!(rows.ranks.of_anchors(), expected);
        // The same as explicit noise, which the positives themselves are part of, as ties.
        let among = ranks_among(a.narrow(0, 0, 300), p.clone().narrow(0, 0, 300), p);
        for (found, expected) in among.of_anchors().iter().zip(&expected) {
            let tied = expected.tied + 1;
            assert_eq!(*found, Rank { tied, ..*expected });
        }
    }
}

#[test]
fn perfect_reversed_and_collapsed_encoders() {
    let circle = |shift: f64| -> Rows {
        let at = |i: usize| (i as f64 * 0.7 + shift).sin_cos();
        (0..9).map(|i| [at(i).0, at(i).1].to_vec()).collect()
    };
    let aucs = |anchors: &Rows, positives: &Rows| {
        let [a, p] = [anchors, positives].map(|rows| tensor(rows, DType::F32));
        let risk = exact_risk(a, p, 5, 0.1, 8.0);
        [risk.auc_all, risk.auc_old, risk.auc_new].map(Option::unwrap)
    };
    assert_eq!(aucs(&circle(0.0), &circle(0.01)), [1.0; 3]);
    let opposite: Rows = circle(0.0)
        .iter()
        .map(|row| vec![-row[0], -row[1]])
        .collect();
    assert_eq!(aucs(&circle(0.0), &opposite), [0.0; 3]);
    let one = vec![vec![0.3, -0.7]; 9];
    assert_eq!(aucs(&one, &one), [0.5; 3]);
}

/// P(B; K) against a plain double loop over anchors and draws.
#[test]
fn measured_probabilities_are_products_of_shares() {
    let mut rng = Seed::new(17).rng();
    let mut draw = |_| -> Vec<f64> { (0..4).map(|_| rng.random_range(-1.0..1.0)).collect() };
    let anchors: Rows = (0..40).map(&mut draw).collect();
    let noisy = |row: &Vec<f64>, rival: &Vec<f64>| -> Vec<f64> {
        row.iter().zip(rival).map(|(x, y)| x + 0.6 * y).collect()
    };
    let positives: Rows = (0..40)
        .map(|i| noisy(&anchors[i], &anchors[(i + 1) % 40]))
        .collect();
    let [a, p] = [&anchors, &positives].map(|rows| tensor(rows, DType::F32));
    let (_, rows) = exact_risk_with_rows(a, p, 20, 0.2, 7.0);
    let by_k = rows.ranks.right_by_k(60);
    assert_eq!((by_k.len(), rows.ranks.right(40)), (39, None));
    for k in [1, 2, 5, 20, 39] {
        let mut sum = 0.0;
        for rank in rows.ranks.of_anchors() {
            assert_eq!((rank.tied, rank.n_noise()), (0, 39));
            let mut right = 1.0;
            for i in 0..k {
                right *= rank.below.saturating_sub(i) as f64 / (39 - i) as f64;
            }
            sum += right;
        }
        assert!((by_k[k - 1] - sum / 40.0).abs() < 1e-14, "{k}");
        assert!(
            (rows.ranks.right(k).unwrap() - sum / 40.0).abs() < 1e-14,
            "{k}"
        );
    }
    assert!((by_k[0] - rows.ranks.auc()).abs() < 1e-14);
}

/// Records of versions that measured no AUC are still read.
#[test]
fn older_records_have_no_auc() {
    let rows = vec![
        vec![1.0, 0.2],
        vec![-0.3, 0.8],
        vec![0.5, -0.9],
        vec![0.1, 0.4],
    ];
    let x = tensor(&rows, DType::F32);
    let risk = exact_risk(x.clone(), x, 2, 0.5, 3.0);
    let mut record = serde_json::to_value(risk).unwrap();
    assert_eq!(
        serde_json::from_value::<icl_core::ExactRisk>(record.clone()).unwrap(),
        risk
    );
    let fields = record.as_object_mut().unwrap();
    for name in ["auc_all", "auc_old", "auc_new"] {
        assert!(fields.remove(name).is_some(), "{name}");
    }
    let older: icl_core::ExactRisk = serde_json::from_value(record).unwrap();
    assert_eq!((older.auc_all, older.all), (None, risk.all));
}
