//! Neighbours kept against scikit-learn, on values of `scripts/reference/neighbours.py`.

use icl_eval::{Matrix, NeighboursKeptConfig};
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    d_before: usize,
    d_after: usize,
    before: Vec<f64>,
    after: Vec<f64>,
    k: Vec<usize>,
    share: Vec<f64>,
}

#[test]
fn the_share_agrees() {
    let reference: Reference =
        serde_json::from_str(include_str!("reference/neighbours.json")).expect("valid JSON");
    assert!(!reference.cases.is_empty());
    for case in reference.cases {
        let before = Matrix::try_new(case.before, case.d_before).expect("finite embeddings");
        let after = Matrix::try_new(case.after, case.d_after).expect("finite embeddings");
        for (k, expected) in case.k.into_iter().zip(case.share) {
            let kept = NeighboursKeptConfig::default().with_k(k).try_init();
            let found = kept.and_then(|kept| kept.share(&before, &after)).unwrap();
            // Both count the same neighbours; only their means are rounded differently.
            assert!(
                (found - expected).abs() < 1e-12,
                "{}, k = {k}: found {found}, expected {expected}",
                case.name
            );
        }
    }
}
