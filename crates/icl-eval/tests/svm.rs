//! The protocol and its parts against scikit-learn, on values of `scripts/reference/svm.py`.

use std::time::Instant;

use icl_eval::{
    CrossValidated, Matrix, PrincipalPlane, SvmClassifier, SvmProtocol, SvmProtocolConfig,
    stratified_folds,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    grid: Vec<f64>,
    cases: Vec<Case>,
    fits: Vec<Fit>,
    folds: Vec<Folds>,
    planes: Vec<Plane>,
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

#[derive(Deserialize)]
struct Folds {
    labels: Vec<usize>,
    n_folds: usize,
    folds: Vec<usize>,
}

#[derive(Deserialize)]
struct Plane {
    case: String,
    axes: [Vec<f64>; 2],
    coordinates: Vec<[f64; 2]>,
    explained: [f64; 2],
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
        case.expect("a fit or plane belongs to a case")
    }

    fn protocol(&self) -> SvmProtocol {
        let config = SvmProtocolConfig::default().with_grid(self.grid.clone());
        config.try_init().expect("a valid grid")
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
fn the_default_grid_is_the_papers() {
    let reference = Reference::small();
    let default = SvmProtocolConfig::default().try_init().unwrap();
    assert_eq!(default, reference.protocol());
}

#[test]
fn nested_cross_validation_agrees_on_every_fold() {
    let reference = Reference::small();
    for case in &reference.cases {
        let found = reference
            .protocol()
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
        let machine = SvmClassifier::fit(matrix.select(training), labels, fit.c).unwrap();
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

#[test]
fn unshuffled_folds_are_equal() {
    for case in Reference::small().folds {
        assert_eq!(stratified_folds(&case.labels, case.n_folds), case.folds);
    }
}

#[test]
fn principal_planes_agree() {
    let reference = Reference::small();
    for expected in &reference.planes {
        let found = PrincipalPlane::of(&reference.case(&expected.case).matrix());
        assert_close(&found.explained, &expected.explained, 1e-10);
        assert_close(&found.axes.concat(), &expected.axes.concat(), 1e-8);
        assert_close(
            found.coordinates.as_flattened(),
            expected.coordinates.as_flattened(),
            1e-8,
        );
    }
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
        let found = reference
            .protocol()
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
