//! The training of linear classifiers by gradient descent.

use icl_core::Seed;
use icl_eval::{EvalError, EvalErrorKind, Matrix};
use nalgebra::DMatrix;
use rand::RngExt;
use rand::seq::SliceRandom;

use super::rule::{Descending, DescentRule, RateDecay};

/// Training of linear classifiers, apart from the learning rate and the draws.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Recipe {
    pub(super) rule: DescentRule,
    pub(super) decay: RateDecay,
    pub(super) n_epochs: usize,
    /// Number of samples in a batch; all without one.
    pub(super) batch_size: Option<usize>,
}

/// Weights and intercepts `[d + 1, k]` of the classes, ascending.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fitted {
    pub(super) parameters: DMatrix<f64>,
    classes: Vec<usize>,
}

/// Training rows with their classes.
pub(super) struct LabelledRows {
    /// Samples as columns, with a last row of ones, whose weights are the intercepts `[d + 1, n]`.
    samples: DMatrix<f64>,
    /// Class of each sample, as its position in `classes`.
    targets: Vec<usize>,
    classes: Vec<usize>,
}

impl LabelledRows {
    /// Copies the rows of `matrix`, which has one label for each.
    pub(super) fn new(matrix: &Matrix, labels: &[usize]) -> Self {
        let mut classes = labels.to_vec();
        classes.sort_unstable();
        classes.dedup();
        let place = |label| classes.partition_point(|class| class < label);
        let targets = labels.iter().map(place).collect();
        Self {
            samples: columns(matrix).insert_row(matrix.n_columns(), 1.0),
            targets,
            classes,
        }
    }

    /// Draws the first parameters of a classifier `[d + 1, classes]`: weights from U(−b, b) with
    /// b = √(6/(d + classes)) (Glorot and Bengio, 2010), intercepts of 0.
    pub(super) fn xavier(&self, seed: Seed) -> DMatrix<f64> {
        let (d, k) = (self.samples.nrows() - 1, self.classes.len());
        let bound = (6.0 / (d + k) as f64).sqrt();
        let mut rng = seed.rng();
        DMatrix::from_fn(d, k, |_, _| rng.random_range(-bound..bound)).insert_row(d, 0.0)
    }

    /// Returns a shuffled order of the samples.
    pub(super) fn shuffled(&self, seed: Seed) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.targets.len()).collect();
        order.shuffle(&mut seed.rng());
        order
    }

    /// Turns logits of samples (columns), classifier by classifier, into the derivatives of the mean loss.
    fn residuals(&self, logits: &mut DMatrix<f64>, batch: &[usize]) {
        let k = self.classes.len();
        for (mut column, &sample) in logits.column_iter_mut().zip(batch) {
            for logits in column.as_mut_slice().chunks_exact_mut(k) {
                // The softmax stays the same without the greatest logit, and exp cannot overflow.
                let greatest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                logits.iter_mut().for_each(|z| *z = (*z - greatest).exp());
                let sum: f64 = logits.iter().sum();
                logits.iter_mut().for_each(|p| *p /= sum);
                // ∂(−log p_y)/∂z = p − 1_y.
                logits[self.targets[sample]] -= 1.0;
            }
        }
        *logits /= batch.len() as f64;
    }
}

impl Recipe {
    /// Fits one classifier for each learning rate, all from the same first parameters `start` and in the
    /// same batches. `order` returns the order of the samples in an epoch.
    ///
    /// The classifiers are fitted side by side, so that every sample is read once for all of them.
    ///
    /// # Errors
    /// [`EvalErrorKind::NotConverged`] if a parameter is not finite at the end.
    pub(super) fn fit(
        &self,
        rows: &LabelledRows,
        rates: &[f64],
        start: &DMatrix<f64>,
        order: impl Fn(usize) -> Vec<usize>,
    ) -> Result<Vec<Fitted>, EvalError> {
        let (n, k) = (rows.targets.len(), rows.classes.len());
        let size = self.batch_size.unwrap_or(n).min(n);
        let n_updates = self.n_epochs * n.div_ceil(size);
        let values = start.as_slice().repeat(rates.len());
        let mut parameters = DMatrix::from_vec(start.nrows(), k * rates.len(), values);
        let mut descending = Descending::new(self.rule, k, parameters.shape());
        let mut update = 0;
        let everything: Vec<usize> = (0..n).collect();
        for epoch in 0..self.n_epochs {
            let order = (size < n).then(|| order(epoch));
            for batch in order.as_deref().unwrap_or(&everything).chunks(size) {
                let copy = (size < n).then(|| rows.samples.select_columns(batch));
                let samples = copy.as_ref().unwrap_or(&rows.samples);
                let mut residuals = parameters.transpose() * samples;
                rows.residuals(&mut residuals, batch);
                let gradient = samples * residuals.transpose();
                let factor = self.decay.factor(update, n_updates);
                let rates: Vec<f64> = rates.iter().map(|rate| rate * factor).collect();
                descending.update(&rates, &mut parameters, &gradient);
                update += 1;
            }
        }
        let blocks = rates.iter().enumerate().map(|(place, &rate)| {
            let parameters = parameters.columns(place * k, k).into_owned();
            if !parameters.iter().all(|value| value.is_finite()) {
                let error = EvalError::message(format!(
                    "linear classifier with the learning rate {rate}: found weights that are not finite"
                ));
                return Err(error.with_kind(EvalErrorKind::NotConverged));
            }
            Ok(Fitted {
                parameters,
                classes: rows.classes.clone(),
            })
        });
        blocks.collect()
    }
}

impl Fitted {
    /// Predicts the class of each sample, given as columns `[d, m]`: the one with the largest logit, the
    /// lowest of several.
    pub(super) fn predict(&self, samples: &DMatrix<f64>) -> Vec<usize> {
        let (d, k) = (samples.nrows(), self.classes.len());
        let weights = self.parameters.rows(0, d).transpose();
        let mut logits = weights * samples;
        for mut column in logits.column_iter_mut() {
            for class in 0..k {
                column[class] += self.parameters[(d, class)];
            }
        }
        let elected = logits.column_iter().map(|column| {
            let mut elected = 0;
            for class in 1..k {
                if column[class] > column[elected] {
                    elected = class;
                }
            }
            self.classes[elected]
        });
        elected.collect()
    }
}

/// Returns the rows of a matrix as columns `[d, n]`.
pub(super) fn columns(matrix: &Matrix) -> DMatrix<f64> {
    let values = matrix.rows().flatten().copied();
    DMatrix::from_iterator(matrix.n_columns(), matrix.n_rows(), values)
}

#[cfg(test)]
mod tests {
    use super::*;

    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Reference {
        cases: Vec<Case>,
    }

    #[derive(Deserialize)]
    struct Case {
        name: String,
        optimizer: String,
        cosine: bool,
        n_epochs: usize,
        batch_size: Option<usize>,
        d: usize,
        features: Vec<f64>,
        labels: Vec<usize>,
        weights: Vec<Vec<f64>>,
        orders: Vec<Vec<usize>>,
        fits: Vec<Fit>,
    }

    #[derive(Deserialize)]
    struct Fit {
        rate: f64,
        weights: Vec<Vec<f64>>,
        intercepts: Vec<f64>,
        predictions: Vec<usize>,
    }

    fn reference() -> Vec<Case> {
        let text = include_str!("../../tests/reference/descent_probe.json");
        let reference: Reference = serde_json::from_str(text).expect("valid JSON");
        assert!(!reference.cases.is_empty());
        reference.cases
    }

    impl Case {
        fn recipe(&self) -> Recipe {
            Recipe {
                rule: match self.optimizer.as_str() {
                    "adam" => DescentRule::Adam,
                    "lars" => DescentRule::Lars,
                    other => panic!("optimizer {other}"),
                },
                decay: match self.cosine {
                    true => RateDecay::Cosine,
                    false => RateDecay::Constant,
                },
                n_epochs: self.n_epochs,
                batch_size: self.batch_size,
            }
        }

        fn matrix(&self) -> Matrix {
            Matrix::try_new(self.features.clone(), self.d).expect("finite features")
        }

        fn start(&self) -> DMatrix<f64> {
            let weights = self.weights.concat();
            DMatrix::from_column_slice(self.d, self.weights.len(), &weights).insert_row(self.d, 0.0)
        }

        fn fit(&self, rates: &[f64]) -> Vec<Fitted> {
            let rows = LabelledRows::new(&self.matrix(), &self.labels);
            let order = |epoch: usize| self.orders[epoch].clone();
            let fitted = self.recipe().fit(&rows, rates, &self.start(), order);
            fitted.expect("finite parameters")
        }
    }

    #[test]
    fn fits_are_those_of_pytorch() {
        for case in reference() {
            let rates: Vec<f64> = case.fits.iter().map(|fit| fit.rate).collect();
            for (found, expected) in case.fit(&rates).iter().zip(&case.fits) {
                let parameters = &found.parameters;
                for (class, weights) in expected.weights.iter().enumerate() {
                    let all = weights.iter().chain([&expected.intercepts[class]]);
                    for (place, expected) in all.enumerate() {
                        let found = parameters[(place, class)];
                        // Both calculate in double precision.
                        assert!(
                            (found - expected).abs() <= 1e-9 * expected.abs().max(1.0),
                            "{}: found {found}, expected {expected}",
                            case.name
                        );
                    }
                }
                assert_eq!(
                    found.predict(&columns(&case.matrix())),
                    expected.predictions
                );
            }
        }
    }

    #[test]
    fn classifiers_side_by_side_are_those_that_are_fitted_alone() {
        for case in reference() {
            let rates: Vec<f64> = case.fits.iter().map(|fit| fit.rate).collect();
            for (together, rate) in case.fit(&rates).iter().zip(rates) {
                let alone = &case.fit(&[rate])[0];
                let distance = (&together.parameters - &alone.parameters).amax();
                // Rounding, which a large learning rate amplifies.
                assert!(distance < 1e-9, "{}, {rate}: {distance}", case.name);
            }
        }
    }

    #[test]
    fn the_first_weights_are_uniform_within_the_bound() {
        let matrix = Matrix::try_new((0..4000).map(f64::from).collect(), 1000).unwrap();
        let rows = LabelledRows::new(&matrix, &[3, 1, 4, 1]);
        let start = rows.xavier(Seed::new(5));
        assert_eq!(start.shape(), (1001, 3));
        assert_eq!(start.row(1000).amax(), 0.0);
        let bound = (6.0_f64 / 1003.0).sqrt();
        let variance = start.norm_squared() / 3000.0;
        assert!(start.amax() < bound && start.amax() > 0.99 * bound);
        // The variance of U(−b, b) is b²/3, here with a standard error of 1.6 %.
        assert!((variance / (bound * bound / 3.0) - 1.0).abs() < 0.08);
        assert_eq!(start, rows.xavier(Seed::new(5)));
        assert_ne!(start, rows.xavier(Seed::new(6)));
    }

    #[test]
    fn parameters_that_overflow_are_an_error() {
        let matrix = Matrix::try_new(vec![1.0, -1.0], 1).unwrap();
        let rows = LabelledRows::new(&matrix, &[0, 1]);
        let recipe = Recipe {
            rule: DescentRule::Adam,
            decay: RateDecay::Constant,
            n_epochs: 3,
            batch_size: None,
        };
        let start = DMatrix::zeros(2, 2);
        let found = recipe.fit(&rows, &[0.1, f64::MAX], &start, |_| Vec::new());
        assert_eq!(
            found.map(drop).unwrap_err().kind(),
            EvalErrorKind::NotConverged
        );
    }
}
