//! Labels, folds and indices that do not fit the rows: an error that names the argument, in every protocol.

use icl_core::{Increment, Seed};
use icl_eval::{
    Accuracies, CrossValidated, EvalError, FewLabelsConfig, FloorFeatures, Floors,
    KnnProtocolConfig, LinearClassifier, LinearProbeConfig, Matrix, Protocol,
};

fn rows(n: usize) -> Matrix {
    let values = (0..2 * n).map(|at| (at as f64).sin());
    Matrix::try_new(values.collect(), 2).unwrap()
}

/// Labels of two classes.
fn labels(n: usize) -> Vec<usize> {
    (0..n).map(|at| at % 2).collect()
}

const FEWER: &str = "labels: found 39, expected 40, one for each row";

#[test]
fn every_protocol_names_the_argument() {
    let (x, few, seed) = (rows(40), labels(39), Seed::new(1));
    let increment = Increment::try_new((0..20).collect(), (20..40).collect()).unwrap();
    let beyond = Increment::try_new((0..20).collect(), (20..41).collect()).unwrap();
    let knn = KnnProtocolConfig::default().init();
    let linear = LinearProbeConfig::default().init();
    let labelled = FewLabelsConfig::default().init();
    for protocol in [&knn as &dyn Protocol, &linear, &labelled] {
        let text = |error: Result<_, EvalError>| error.map(drop).unwrap_err().to_string();
        assert_eq!(text(protocol.evaluate(&x, &few, seed).map(drop)), FEWER);
        let parts = |labels: &[usize], increment| {
            let found = protocol.evaluate_parts(&x, labels, increment, seed);
            text(found.map(drop))
        };
        assert_eq!(parts(&few, &increment), FEWER);
        let outside = "increment: found row 40, expected an index below 40";
        assert_eq!(parts(&labels(40), &beyond), outside);
        let features = FloorFeatures {
            raw: Some(&x),
            ..FloorFeatures::default()
        };
        let floors = |labels: &[usize], increment| {
            let found = Floors::evaluate(protocol, features, labels, increment, seed);
            text(found.map(drop))
        };
        assert_eq!(floors(&few, &increment), FEWER);
        assert_eq!(floors(&labels(40), &beyond), outside);
        let accuracies = Accuracies::new(protocol, &few, seed);
        let embeddings = || ((0..80).map(|at| f64::from(at).cos()).collect(), 2);
        let measured = accuracies.measure(&increment, embeddings(), embeddings());
        assert_eq!(measured.unwrap_err().to_string(), FEWER);
    }
    for protocol in [&knn as &dyn Folds, &linear] {
        let text = |labels: &[usize], folds: &[usize]| protocol.error(&x, labels, folds);
        assert_eq!(text(&few, &labels(40)), FEWER);
        let folds = "folds: found 39, expected 40, one for each row";
        assert_eq!(text(&labels(40), &few), folds);
    }
}

/// Protocols on given folds.
trait Folds {
    fn error(&self, x: &Matrix, labels: &[usize], folds: &[usize]) -> String;
}

impl<P: CrossValidated> Folds for P {
    fn error(&self, x: &Matrix, labels: &[usize], folds: &[usize]) -> String {
        let found = self.evaluate_on_folds(x, labels, folds);
        found.unwrap_err().to_string()
    }
}

#[test]
fn predictions_from_given_samples_name_the_argument() {
    let (x, few, wide) = (
        rows(40),
        labels(39),
        Matrix::try_new(vec![0.5; 9], 3).unwrap(),
    );
    let none = Matrix::try_new(Vec::new(), 2).unwrap();
    let knn = KnnProtocolConfig::default().init();
    let linear = LinearProbeConfig::default().init();
    let of_knn = |training: &Matrix, labels: &[usize], test: &Matrix, tested: &[usize]| {
        let found = knn.accuracy(training, labels, test, tested);
        found.unwrap_err().to_string()
    };
    let of_linear = |training: &Matrix, labels: &[usize], test: &Matrix, tested: &[usize]| {
        let found = linear.accuracy(training, labels, test, tested);
        found.unwrap_err().to_string()
    };
    let all = labels(40);
    for accuracy in [
        &of_knn as &dyn Fn(&Matrix, &[usize], &Matrix, &[usize]) -> String,
        &of_linear,
    ] {
        assert_eq!(accuracy(&x, &few, &x, &all), FEWER);
        assert_eq!(
            accuracy(&x, &all, &x, &few),
            "test labels: found 39, expected 40, one for each row"
        );
        let widths = "samples: found rows of width 3, expected 2";
        assert!(accuracy(&x, &all, &wide, &[0; 3]).ends_with(widths));
        let empty = "training samples: found no row, expected at least 1";
        assert_eq!(accuracy(&none, &[], &x, &all), empty);
    }
    let fit = LinearClassifier::fit(&x, &few, 1.0);
    assert_eq!(fit.unwrap_err().to_string(), FEWER);
    let few_labels = FewLabelsConfig::default().init();
    let of = |labels: &[usize], labelled: &[usize]| {
        let found = few_labels.accuracy(&x, labels, labelled);
        found.unwrap_err().to_string()
    };
    assert_eq!(of(&few, &[0]), FEWER);
    assert_eq!(
        of(&all, &[0, 40]),
        "labelled: found row 40, expected an index below 40"
    );
    assert!(of(&all, &[]).contains("found no row"));
}
