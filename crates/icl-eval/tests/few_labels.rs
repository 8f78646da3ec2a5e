//! The nearest of a few labelled samples against scikit-learn, on values of
//! `scripts/reference/few_labels.py`.

use icl_eval::{FewLabelsConfig, Matrix};
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    d: usize,
    embeddings: Vec<f64>,
    labels: Vec<usize>,
    draws: Vec<Vec<usize>>,
    accuracies: Vec<f64>,
}

#[test]
fn the_accuracy_of_every_draw_agrees() {
    let reference: Reference =
        serde_json::from_str(include_str!("reference/few_labels.json")).expect("valid JSON");
    assert!(!reference.cases.is_empty());
    let protocol = FewLabelsConfig::default().init();
    for case in reference.cases {
        let matrix = Matrix::try_new(case.embeddings, case.d).expect("finite embeddings");
        assert_eq!(case.draws.len(), case.accuracies.len());
        for (draw, expected) in case.draws.iter().zip(case.accuracies) {
            let found = protocol.accuracy(&matrix, &case.labels, draw).unwrap();
            // A share of at most 95 samples: the same count gives the same number.
            assert!((found - expected).abs() < 1e-12, "{}: {found}", case.name);
        }
    }
}
