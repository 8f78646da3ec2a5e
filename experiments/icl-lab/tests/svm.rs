//! The protocol and its parts against scikit-learn, on values of `scripts/reference/svm.py`.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use icl_core::Seed;
use icl_eval::{CrossValidated, EvalErrorKind, Matrix, Protocol, Watch};
use icl_lab::svm::{SvmProtocol, SvmTraining};
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    cases: Vec<Case>,
    fits: Vec<Fit>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    d: usize,
    embeddings: Vec<f32>,
    labels: Vec<usize>,
    folds: Vec<usize>,
    accuracies: Vec<f64>,
    chosen_c: Vec<f64>,
    mean: f64,
    std: f64,
    seconds: f64,
}

#[derive(Deserialize)]
struct Fit {
    case: String,
    c: f64,
    n_train: usize,
    gamma: f64,
    decision_values: Vec<Vec<f64>>,
    predictions: Vec<usize>,
    dual_coefficients: Option<Vec<Vec<f64>>>,
}

impl Case {
    fn matrix(&self) -> Matrix {
        Matrix::try_from_f32(&self.embeddings, self.d).expect("finite embeddings")
    }
}

impl Reference {
    fn small() -> Self {
        serde_json::from_str(include_str!("reference/svm.json")).expect("valid JSON")
    }

    fn case(&self, name: &str) -> &Case {
        let case = self.cases.iter().find(|case| case.name == name);
        case.expect("a fit belongs to a case")
    }
}

#[track_caller]
fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (index, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!(
            (f - e).abs() <= tolerance * e.abs().max(1.0),
            "element {index}: found {f}, expected {e} within {tolerance}"
        );
    }
}

#[test]
fn nested_cross_validation_agrees_on_every_fold() {
    let reference = Reference::small();
    for case in &reference.cases {
        let found = SvmProtocol
            .evaluate_on_folds(&case.matrix(), &case.labels, &case.folds)
            .unwrap()
            .unwrap();
        // Not only within 0.01: every prediction and every chosen C is the same.
        assert_close(&found.per_fold, &case.accuracies, 1e-12);
        assert_eq!(found.chosen_c, case.chosen_c, "{}", case.name);
        assert_close(&[found.mean, found.std], &[case.mean, case.std], 1e-12);
        assert_eq!(found.n_folds, 5);
    }
}

#[test]
fn single_fits_agree() {
    let reference = Reference::small();
    for fit in &reference.fits {
        let case = reference.case(&fit.case);
        let matrix = case.matrix();
        let rows: Vec<usize> = (0..matrix.n_rows()).collect();
        let (training, test) = rows.split_at(fit.n_train);
        let labels = &case.labels[..fit.n_train];
        let training = SvmTraining::new(&matrix.select(training), labels);
        let machine = training.fit(fit.c);
        let test = matrix.select(test);
        assert_close(&[machine.gamma()], &[fit.gamma], 1e-12);
        assert_eq!(machine.predict(&test), fit.predictions);
        // The solvers take the same steps, so that they agree far below the 1e-3 at which they stop,
        // except where a fit is so long that the reference's shrinking changes its path.
        let shrunk = fit.case == "pooled" && fit.c == 1e3;
        let tolerance = if shrunk { 5e-3 } else { 1e-6 };
        let values = machine.decision_values(&test);
        assert_close(&values.concat(), &fit.decision_values.concat(), tolerance);
        if let (Some(expected), false) = (&fit.dual_coefficients, shrunk) {
            assert_close(
                &machine.dual_coefficients().concat(),
                &expected.concat(),
                1e-6,
            );
        }
    }
}

/// Overlapping classes.
fn data() -> (Matrix, Vec<usize>) {
    let case = Reference::small().cases.swap_remove(4);
    (case.matrix(), case.labels)
}

#[test]
fn progress_ends_at_one_and_a_request_ends_it() {
    let (x, labels) = data();
    let (shares, n_calls) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    let watch = Watch::new()
        .on_progress(|share| shares.lock().unwrap().push(share))
        .stop_when(|| {
            n_calls.fetch_add(1, Ordering::Relaxed);
            false
        });
    let evaluate = |watch: &Watch<'_>| SvmProtocol.evaluate_with(&x, &labels, Seed::new(1), watch);
    evaluate(&watch).unwrap();
    let shares = shares.lock().unwrap();
    assert!(shares.len() > 3 && shares.iter().all(|share| (0.0..=1.0).contains(share)));
    assert_eq!(shares.last(), Some(&1.0));
    let n_all = n_calls.load(Ordering::Relaxed);
    for last in [0, 1, n_all / 2, n_all - 1] {
        let n_calls = AtomicUsize::new(0);
        let watch = Watch::new().stop_when(|| n_calls.fetch_add(1, Ordering::Relaxed) >= last);
        let found = evaluate(&watch).map_err(|error| error.kind());
        assert_eq!(found, Err(EvalErrorKind::Interrupted));
    }
}

#[test]
fn the_number_of_threads_does_not_count() {
    let (x, labels) = data();
    let found = [1, 2, 5].map(|n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
        let pool = pool.build().unwrap();
        pool.install(|| SvmProtocol.evaluate(&x, &labels, Seed::new(0)))
    });
    assert!(matches!(&found[0], Ok(Some(_))));
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0], found[2]);
}

/// Compares embeddings of the size of a real data set; `scripts/reference/svm.py` describes how to run it.
#[test]
#[ignore = "needs the output of scripts/reference/svm.py --large"]
fn large_embeddings_agree() {
    let path = std::env::var("ICL_SVM_REFERENCE").expect("ICL_SVM_REFERENCE names the file");
    let text = std::fs::read_to_string(path).unwrap();
    let reference: Reference = serde_json::from_str(&text).unwrap();
    for case in &reference.cases {
        let start = Instant::now();
        let found = SvmProtocol
            .evaluate_on_folds(&case.matrix(), &case.labels, &case.folds)
            .unwrap()
            .unwrap();
        println!(
            "{}: {:.4} (scikit-learn {:.4}) in {:.2} s (scikit-learn {:.2} s)",
            case.name,
            found.mean,
            case.mean,
            start.elapsed().as_secs_f64(),
            case.seconds
        );
        println!("  {:?}\n  {:?}", found.chosen_c, case.chosen_c);
        // The bar of the project. Decisions within the solvers' tolerance of 0 may fall either way.
        assert!((found.mean - case.mean).abs() <= 0.01, "{}", case.name);
    }
}
