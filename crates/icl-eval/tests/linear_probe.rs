//! The linear probe against scikit-learn, on values of `scripts/reference/linear_probe.py`.

use icl_eval::{CrossValidated, LinearClassifier, LinearProbeConfig, Matrix};
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    grid: Vec<f64>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    d: usize,
    embeddings: Vec<f64>,
    labels: Vec<usize>,
    folds: Vec<usize>,
    accuracies: Vec<f64>,
    chosen_c: Vec<f64>,
    mean: f64,
    std: f64,
    fits: Vec<Fit>,
}

#[derive(Deserialize)]
struct Fit {
    c: f64,
    n_train: usize,
    weights: Vec<Vec<f64>>,
    intercepts: Vec<f64>,
    loss: f64,
    predictions: Vec<usize>,
}

fn reference() -> Reference {
    let reference: Reference =
        serde_json::from_str(include_str!("reference/linear_probe.json")).expect("valid JSON");
    assert!(!reference.cases.is_empty());
    reference
}

/// Computes the objective of a fit, the mean negative log-likelihood plus the penalty divided by C and n,
/// by a plain double loop.
fn loss(classifier: &LinearClassifier, training: &Matrix, labels: &[usize], c: f64) -> f64 {
    let (n, d) = (training.n_rows(), training.n_columns());
    let mut standard = training.rows().map(<[f64]>::to_vec).collect::<Vec<_>>();
    for j in 0..d {
        let mean = standard.iter().map(|row| row[j]).sum::<f64>() / n as f64;
        let squares = standard.iter().map(|row| (row[j] - mean).powi(2));
        let deviation = (squares.sum::<f64>() / n as f64).sqrt();
        for row in &mut standard {
            row[j] = (row[j] - mean) / if deviation < 1e-9 { 1.0 } else { deviation };
        }
    }
    let (weights, intercepts) = (classifier.weights(), classifier.intercepts());
    let mut sum = 0.0;
    for (row, label) in standard.iter().zip(labels) {
        let logits: Vec<f64> = (0..weights.len())
            .map(|class| {
                let products = weights[class].iter().zip(row).map(|(w, x)| w * x);
                products.sum::<f64>() + intercepts[class]
            })
            .collect();
        let greatest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let exponentials = logits.iter().map(|z| (z - greatest).exp());
        let own = classifier.classes().iter().position(|class| class == label);
        sum += greatest + exponentials.sum::<f64>().ln() - logits[own.expect("a class")];
    }
    let squares = weights
        .as_slice()
        .concat()
        .iter()
        .map(|w| w * w)
        .sum::<f64>();
    // Of two classes the single weight vector w is w/2 and −w/2.
    let squares = if weights.len() == 2 {
        2.0 * squares
    } else {
        squares
    };
    sum / n as f64 + 0.5 * squares / (c * n as f64)
}

#[test]
fn single_fits_agree() {
    for case in reference().cases {
        let matrix = Matrix::try_new(case.embeddings, case.d).expect("finite embeddings");
        let rows: Vec<usize> = (0..matrix.n_rows()).collect();
        for fit in case.fits {
            let (training, test) = rows.split_at(fit.n_train);
            let training = matrix.select(training);
            let labels = &case.labels[..fit.n_train];
            let found = LinearClassifier::fit(&training, labels, fit.c).unwrap();
            assert_eq!(found.predict(&matrix.select(test)), fit.predictions);
            let (mut weights, mut intercepts) = (found.weights(), found.intercepts());
            if let ([first, second], [a, b]) = (&weights[..], &intercepts[..]) {
                // scikit-learn's single weight vector speaks for the second class.
                let difference = second.iter().zip(first).map(|(s, f)| s - f);
                (weights, intercepts) = (vec![difference.collect()], vec![b - a]);
            }
            let pairs = weights.concat().into_iter().chain(intercepts);
            let expected = fit.weights.concat().into_iter().chain(fit.intercepts);
            for (found, expected) in pairs.zip(expected) {
                assert!(
                    (found - expected).abs() <= 1e-4 * expected.abs().max(1.0),
                    "{}, C = {}: found {found}, expected {expected}",
                    case.name,
                    fit.c
                );
            }
            let loss = loss(&found, &training, labels, fit.c);
            assert!((loss - fit.loss).abs() <= 1e-8 * fit.loss, "{}", case.name);
        }
    }
}

#[test]
fn nested_cross_validation_agrees_on_every_fold() {
    let reference = reference();
    let probe = LinearProbeConfig::default().with_grid(reference.grid.clone());
    let probe = probe.init();
    assert_eq!(probe, LinearProbeConfig::default().init());
    for case in reference.cases {
        let matrix = Matrix::try_new(case.embeddings, case.d).expect("finite embeddings");
        let found = probe.evaluate_on_folds(&matrix, &case.labels, &case.folds);
        let found = found.unwrap().unwrap();
        assert_eq!(found.chosen_c, case.chosen_c, "{}", case.name);
        for (found, expected) in found.per_fold.iter().zip(&case.accuracies) {
            assert!((found - expected).abs() < 1e-12, "{}", case.name);
        }
        assert!((found.mean - case.mean).abs() < 1e-12);
        assert!((found.std - case.std).abs() < 1e-12);
        // A division that the data bring is the same as a fold.
        let rows = 0..case.labels.len();
        let (test, training): (Vec<_>, Vec<_>) = rows.partition(|&row| case.folds[row] == 0);
        let labels = |rows: &[usize]| rows.iter().map(|&row| case.labels[row]).collect::<Vec<_>>();
        let accuracy = probe.accuracy(
            &matrix.select(&training),
            &labels(&training),
            &matrix.select(&test),
            &labels(&test),
        );
        assert_eq!(accuracy, Ok(found.per_fold[0]));
    }
}
