//! The k nearest neighbours against scikit-learn, on values of `scripts/reference/knn.py`.

use icl_eval::{CrossValidated, KnnProtocolConfig, KnnVotes, Matrix};
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
    folds: Vec<usize>,
    runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    k: usize,
    temperature: Option<f64>,
    predictions: Vec<usize>,
    accuracies: Vec<f64>,
    mean: f64,
    std: f64,
}

#[test]
fn every_prediction_agrees() {
    let reference: Reference =
        serde_json::from_str(include_str!("reference/knn.json")).expect("valid JSON");
    assert!(!reference.cases.is_empty());
    for case in reference.cases {
        let matrix = Matrix::try_new(case.embeddings, case.d).expect("finite embeddings");
        for run in case.runs {
            let votes = match run.temperature {
                Some(temperature) => KnnVotes::Exponential { temperature },
                None => KnnVotes::Uniform,
            };
            let protocol = KnnProtocolConfig::default().with_k(run.k).with_votes(votes);
            let protocol = protocol.init();
            for fold in 0..5 {
                let rows = 0..case.labels.len();
                let (test, training): (Vec<_>, Vec<_>) =
                    rows.partition(|&row| case.folds[row] == fold);
                let labels: Vec<usize> = training.iter().map(|&row| case.labels[row]).collect();
                let found =
                    protocol.predict(&matrix.select(&training), &labels, &matrix.select(&test));
                let expected: Vec<usize> = test.iter().map(|&row| run.predictions[row]).collect();
                assert_eq!(found, Ok(expected), "{}, k = {}", case.name, run.k);
            }
            let found = protocol.evaluate_on_folds(&matrix, &case.labels, &case.folds);
            let found = found.unwrap().unwrap();
            assert!(found.chosen_c.is_empty());
            for (found, expected) in found.per_fold.iter().zip(&run.accuracies) {
                assert!((found - expected).abs() < 1e-12);
            }
            assert!((found.mean - run.mean).abs() < 1e-12);
            assert!((found.std - run.std).abs() < 1e-12);
        }
    }
}
