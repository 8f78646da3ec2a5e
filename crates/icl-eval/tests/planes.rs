//! Folds and principal planes against scikit-learn, on values of `scripts/reference/svm.py --planes`.

use icl_eval::{Matrix, PrincipalPlane, stratified_folds};
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    folds: Vec<Folds>,
    planes: Vec<Plane>,
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
    d: usize,
    embeddings: Vec<f32>,
    axes: [Vec<f64>; 2],
    coordinates: Vec<[f64; 2]>,
    explained: [f64; 2],
}

fn reference() -> Reference {
    let reference: Reference =
        serde_json::from_str(include_str!("reference/planes.json")).expect("valid JSON");
    assert!(!reference.folds.is_empty() && !reference.planes.is_empty());
    reference
}

#[track_caller]
fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, case: &str) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() <= tolerance * expected.abs().max(1.0),
            "{case}: found {found}, expected {expected} within {tolerance}"
        );
    }
}

#[test]
fn unshuffled_folds_are_equal() {
    for case in reference().folds {
        assert_eq!(stratified_folds(&case.labels, case.n_folds), case.folds);
    }
}

#[test]
fn principal_planes_agree() {
    for of in reference().planes {
        let matrix = Matrix::try_from_f32(&of.embeddings, of.d).expect("finite embeddings");
        let found = PrincipalPlane::of(&matrix);
        assert_close(&found.explained, &of.explained, 1e-10, &of.case);
        assert_close(&found.axes.concat(), &of.axes.concat(), 1e-8, &of.case);
        assert_close(
            found.coordinates.as_flattened(),
            of.coordinates.as_flattened(),
            1e-8,
            &of.case,
        );
    }
}
