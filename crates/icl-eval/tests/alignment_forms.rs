//! The residual MLP by plain loops, and the form that is proposed, on changes whose form is known.

use icl_core::Seed;
use icl_eval::{
    AlignmentForm, AlignmentMap, AlignmentSettings, FormComparison, HiddenLayer, Matrix,
};
use rand::RngExt;

const D: usize = 4;

/// Rows of a generator, and what a change with a little noise makes of them.
fn changed(n: usize, noise: f64, change: impl Fn([f64; D]) -> [f64; D]) -> (Matrix, Matrix) {
    let mut rng = Seed::new(2).rng();
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let row = [0.0; D].map(|_: f64| rng.random_range(-1.0..1.0));
        old.extend(row);
        new.extend(change(row).map(|x| x + noise * rng.random_range(-1.0..1.0)));
    }
    let matrix = |values| Matrix::try_new(values, D).unwrap();
    (matrix(old), matrix(new))
}

fn turned([a, b, c, d]: [f64; D]) -> [f64; D] {
    [-b, a, 0.6 * c - 0.8 * d, 0.8 * c + 0.6 * d]
}

fn stretched([a, b, c, d]: [f64; D]) -> [f64; D] {
    [3.0 * a, b + 0.5 * a, 0.3 * c, 0.1 * d + 1.0]
}

fn bent([a, b, c, d]: [f64; D]) -> [f64; D] {
    [(3.0 * a).sin(), a * b, (2.0 * c).cos() + d, c * d]
}

fn settings() -> AlignmentSettings {
    AlignmentSettings::new(AlignmentForm::ResidualMlp).with_hidden(Some(8))
}

#[test]
fn the_form_of_a_known_change_is_proposed() {
    let best = |(old, new): (Matrix, Matrix)| {
        let found = FormComparison::of(&settings(), &old, &new).unwrap();
        println!("{:?}", found.means().collect::<Vec<_>>());
        found.best()
    };
    // Nineteen rows of a fold leave an affine map of 272 numbers nearly open; a rotation has 120.
    let mut rng = Seed::new(3).rng();
    let (old, new) = crate::alignment::turned(24, 16);
    let noisy = new
        .rows()
        .flatten()
        .map(|x| x + 0.3 * rng.random_range(-1.0..1.0));
    let noisy = Matrix::try_new(noisy.collect(), 16).unwrap();
    assert_eq!(best((old, noisy)), AlignmentForm::Procrustes);
    assert_eq!(best(changed(120, 0.3, turned)), AlignmentForm::Procrustes);
    assert_eq!(best(changed(150, 0.1, stretched)), AlignmentForm::Affine);
    assert_eq!(best(changed(250, 0.05, bent)), AlignmentForm::ResidualMlp);
}

/// A rotation takes as many rows as columns; where the folds have fewer, the forms that take fewer are compared.
#[test]
fn forms_that_cannot_be_fitted_are_left_out() {
    let (old, new) = changed(4, 0.1, turned);
    let found = FormComparison::of(&settings(), &old, &new).unwrap();
    let forms: Vec<AlignmentForm> = found.means().map(|(form, _)| form).collect();
    assert_eq!(forms, [AlignmentForm::Affine, AlignmentForm::ResidualMlp]);
    let equal = old.select(&[0; 9]);
    let error = FormComparison::of(&settings(), &equal, &equal).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("rows: found old ones that are all equal"),
        "{error}"
    );
}

#[test]
fn a_residual_mlp_follows_a_bent_change() {
    let (old, new) = changed(250, 0.0, bent);
    let (fitted, others): (Vec<usize>, Vec<usize>) = (0..250).partition(|row| *row < 200);
    let map = |settings: AlignmentSettings| {
        settings
            .fit(&old.select(&fitted), &new.select(&fitted))
            .unwrap()
    };
    let error = |map: &AlignmentMap| {
        let mapped = map.apply(&old.select(&others)).unwrap();
        let expected = new.select(&others);
        let pairs = mapped.rows().flatten().zip(expected.rows().flatten());
        pairs.map(|(x, y)| (x - y).powi(2)).sum::<f64>()
    };
    let (bent, straight) = (
        map(settings()),
        map(settings().with_form(AlignmentForm::Affine)),
    );
    // The affine part is that of the affine form.
    assert_eq!(
        (bent.weights(), bent.ridge()),
        (straight.weights(), straight.ridge())
    );
    assert!(
        error(&bent) < 0.2 * error(&straight),
        "{} {}",
        error(&bent),
        error(&straight)
    );
    assert_eq!(bent, map(settings()));
    assert_ne!(bent, map(settings().with_seed(Seed::new(1))));
    let layer = bent.hidden().unwrap();
    assert_eq!((layer.d_hidden(), straight.hidden()), (8, None));
    let mapped = bent.apply(&old).unwrap();
    for (row, found) in old.rows().zip(mapped.rows()) {
        for (j, found) in found.iter().enumerate() {
            let mut expected = bent.offset()[j];
            for (i, x) in row.iter().enumerate() {
                expected += x * bent.weights()[i * D + j];
            }
            for unit in 0..8 {
                let mut sum = layer.offset()[unit];
                for (i, x) in row.iter().enumerate() {
                    sum += x * layer.weights()[i * 8 + unit];
                }
                expected += sum.tanh() * layer.output()[unit * D + j];
            }
            assert!((found - expected).abs() < 1e-12);
        }
    }
    let parts = (layer.weights(), layer.offset(), layer.output());
    let parts = HiddenLayer::from_parts(parts.0.to_vec(), parts.1.to_vec(), parts.2.to_vec());
    let again = AlignmentMap::from_parts(bent.weights().to_vec(), bent.offset().to_vec());
    assert_eq!(again.with_hidden(parts).apply(&old).unwrap(), mapped);
}

#[test]
fn wrong_widths_of_a_hidden_layer_are_named() {
    let (old, new) = changed(20, 0.0, turned);
    for width in [0, 4097] {
        let error = settings()
            .with_hidden(Some(width))
            .fit(&old, &new)
            .unwrap_err();
        let expected = format!("hidden: found {width}, expected a number from 1 to 4096");
        assert_eq!(error.to_string(), expected);
    }
}
