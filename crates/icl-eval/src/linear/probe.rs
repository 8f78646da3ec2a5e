//! The linear probe: a protocol that classifies frozen embeddings by a linear map.

use super::classifier::Reduced;
use crate::cross_validation::{
    check_folds, checked_grid, checked_n_folds, choose, count_folds, measure_folds, n_fits,
    n_folds_for, share_right,
};
use crate::matrix::{check_count, check_width, labels_of};
use crate::watch::Work;
use crate::{Accuracy, CrossValidated, EvalError, Matrix, Watch};

/// Settings of [`LinearProbe`].
#[derive(Debug, Clone, PartialEq)]
pub struct LinearProbeConfig {
    grid: Vec<f64>,
    n_folds: usize,
}

impl Default for LinearProbeConfig {
    /// Returns the settings C ∈ {10⁻⁴, 10⁻³, 10⁻², 10⁻¹}, 5 folds.
    ///
    /// The best C decreases with the width of the features. For hundreds of features, each of variance 1,
    /// it is around 10⁻³ to 10⁻¹; for a few features and some hundred samples, the borders between
    /// classes hardly change above C = 0.1. A single default would favour one width of encoder over
    /// another. Fits take longer for greater C: C = 1 takes nearly as long as all of these together.
    fn default() -> Self {
        Self {
            grid: vec![1e-4, 1e-3, 1e-2, 1e-1],
            n_folds: 5,
        }
    }
}

impl LinearProbeConfig {
    /// Sets the values of C, the inverse strength of the penalty, to choose from, ascending. If there is
    /// a single value, nothing is chosen and there are no inner folds.
    pub fn with_grid(self, grid: Vec<f64>) -> Self {
        Self { grid, ..self }
    }

    /// Sets the number of outer folds and of inner folds.
    pub fn with_n_folds(self, n_folds: usize) -> Self {
        Self { n_folds, ..self }
    }

    /// Creates the protocol.
    ///
    /// # Errors
    /// - [`EvalErrorKind::Invalid`](crate::EvalErrorKind::Invalid) if the grid is empty, not ascending, or holds a
    ///   value that is not a finite number above 0;
    /// - [`EvalErrorKind::Invalid`](crate::EvalErrorKind::Invalid) if there are fewer than two folds.
    pub fn try_init(self) -> Result<LinearProbe, EvalError> {
        let grid = checked_grid(self.grid)?;
        let n_folds = checked_n_folds(self.n_folds)?;
        Ok(LinearProbe {
            config: Self { grid, n_folds },
        })
    }

    /// Creates the protocol.
    ///
    /// # Panics
    /// If [`try_init`](Self::try_init) returns an error, with the message of the error.
    pub fn init(self) -> LinearProbe {
        self.try_init().unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Linear probe: multinomial logistic regression on standardised frozen embeddings
/// ([`LinearClassifier`](crate::LinearClassifier)).
///
/// In each of 5 outer folds, C is chosen from a grid by inner 5-fold cross-validation on the training
/// part; the classifier is then refitted on the whole training part and tested on the held-out fold.
/// This is what scikit-learn computes by
///
/// ```text
/// search = GridSearchCV(LogisticRegression(), {"C": grid}, cv=5)
/// cross_val_score(make_pipeline(StandardScaler(), search), X, y, cv=StratifiedKFold(5, shuffle=True))
/// ```
///
/// including the unshuffled inner folds, the features standardised once for each outer fold by its
/// training part alone, and the choice of the smallest C of several with the best mean accuracy.
///
/// If the smallest class has m < 5 members, there are max(m, 2) folds, outer and inner. A fit that needs
/// more than 2000 iterations is an error, [`EvalErrorKind::NotConverged`](crate::EvalErrorKind::NotConverged).
///
/// Folds run on rayon's threads; the result does not depend on their number. With n samples of width d
/// and m = min(n, d), each outer fold takes a time of n·d·m + m³, plus some hundred products of `[n, m]`
/// with `[m, classes]` for each inner fold and C.
///
/// Sources: Alain and Bengio (2016), "Understanding intermediate layers using linear classifier
/// probes"; for logistic regression with C chosen by validation, Radford et al. (2021), "Learning
/// transferable visual models from natural language supervision", section 3.2.
///
/// ```
/// use icl_core::Seed;
/// use icl_eval::{LinearProbeConfig, Matrix, Protocol};
///
/// // Forty samples on a line; the class is the side of the middle.
/// let embeddings = Matrix::try_new((0..40).map(f64::from).collect(), 1)?;
/// let labels: Vec<usize> = (0..40).map(|i| i / 20).collect();
/// let probe = LinearProbeConfig::default().try_init()?;
/// let accuracy = probe.evaluate(&embeddings, &labels, Seed::new(0))?;
/// assert!(accuracy.is_some_and(|accuracy| accuracy.mean >= 0.9));
/// # Ok::<(), icl_eval::EvalError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LinearProbe {
    config: LinearProbeConfig,
}

impl LinearProbe {
    /// Measures the accuracy on given test samples of a classifier fitted to given training samples, with
    /// C chosen by inner folds of the training samples.
    ///
    /// # Errors
    /// - [`EvalErrorKind::Invalid`](crate::EvalErrorKind::Invalid) if there is not one label for each row of both
    ///   matrices, one of them has no rows, or their widths differ;
    /// - [`EvalErrorKind::NotConverged`](crate::EvalErrorKind::NotConverged) if a fit needs more than 2000 iterations.
    pub fn accuracy(
        &self,
        training: &Matrix,
        training_labels: &[usize],
        test: &Matrix,
        test_labels: &[usize],
    ) -> Result<f64, EvalError> {
        check_count("test labels", test_labels.len(), test)?;
        check_width("test samples", test, training.n_columns())?;
        // With a single class nothing is chosen, whatever the number of inner folds.
        let n_inner = n_folds_for(training_labels, self.config.n_folds).unwrap_or(2);
        let watch = Watch::new();
        let work = Work::new(&watch, n_fits(1, n_inner, &self.config.grid));
        let (predictions, _) = self.predict(training, training_labels, test, n_inner, &work)?;
        Ok(share_right(&predictions, test_labels))
    }

    /// Predicts the class of each row of `samples`. Also returns the chosen C.
    fn predict(
        &self,
        training: &Matrix,
        labels: &[usize],
        samples: &Matrix,
        n_inner: usize,
        work: &Work<'_>,
    ) -> Result<(Vec<usize>, f64), EvalError> {
        work.watch.check()?;
        let reduced = Reduced::of(training, labels)?;
        let rows: Vec<usize> = (0..labels.len()).collect();
        let c = choose(&reduced, &rows, &self.config.grid, n_inner, work)?;
        let classifier = reduced.fit(c, work.watch)?;
        work.advance();
        Ok((classifier.predict(samples), c))
    }
}

impl CrossValidated for LinearProbe {
    fn n_folds(&self) -> usize {
        self.config.n_folds
    }

    fn evaluate_on_folds_with(
        &self,
        embeddings: &Matrix,
        labels: &[usize],
        folds: &[usize],
        watch: &Watch<'_>,
    ) -> Result<Option<Accuracy>, EvalError> {
        check_count("labels", labels.len(), embeddings)?;
        check_folds(labels, folds)?;
        let Some(n_inner) = n_folds_for(labels, self.config.n_folds) else {
            return Ok(None);
        };
        let work = Work::new(
            watch,
            n_fits(count_folds(folds), n_inner, &self.config.grid),
        );
        let accuracy = measure_folds(folds, |training, test| {
            let (predictions, c) = self.predict(
                &embeddings.select(training),
                &labels_of(labels, training),
                &embeddings.select(test),
                n_inner,
                &work,
            )?;
            Ok((share_right(&predictions, &labels_of(labels, test)), Some(c)))
        });
        accuracy.map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Protocol;

    use icl_core::Seed;
    use rand::RngExt;

    fn random(n: usize, d: usize) -> Matrix {
        let mut rng = Seed::new(8).rng();
        let values = (0..n * d).map(|_| rng.random_range(-1.0..1.0));
        Matrix::try_new(values.collect(), d).unwrap()
    }

    fn probe() -> LinearProbe {
        LinearProbeConfig::default().init()
    }

    #[test]
    fn separated_classes_are_told_apart_on_any_scale() {
        let labels: Vec<usize> = (0..60).map(|i| i % 3).collect();
        for scale in [1e-6, 1.0, 1e6] {
            for d in [3, 200] {
                let noise = random(60, d);
                let rows = noise.rows().zip(&labels).flat_map(|(row, label)| {
                    let mut row: Vec<f64> = row.iter().map(|x| 0.1 * scale * x).collect();
                    row.iter_mut()
                        .skip(*label)
                        .step_by(3)
                        .for_each(|x| *x += 9.0 * scale);
                    row
                });
                let matrix = Matrix::try_new(rows.collect(), d).unwrap();
                let found = probe().evaluate(&matrix, &labels, Seed::new(0));
                assert_eq!(
                    found.unwrap().unwrap().mean,
                    1.0,
                    "{d} features times {scale}"
                );
            }
        }
    }

    #[test]
    fn labels_that_say_nothing_give_chance() {
        let mut rng = Seed::new(4).rng();
        let labels: Vec<usize> = (0..600).map(|_| rng.random_range(0..3)).collect();
        let found = probe().evaluate(&random(600, 6), &labels, Seed::new(0));
        // A third, with a standard error of 0.02.
        assert!((found.unwrap().unwrap().mean - 1.0 / 3.0).abs() < 0.06);
    }

    #[test]
    fn features_that_say_nothing_give_the_majority() {
        let labels: Vec<usize> = (0..50).map(|i| usize::from(i % 5 == 0)).collect();
        let matrix = Matrix::try_new(vec![0.1; 150], 3).unwrap();
        let found = probe().evaluate(&matrix, &labels, Seed::new(0));
        let found = found.unwrap().unwrap();
        assert_eq!(found.per_fold, [0.8; 5]);
        // All C are as good, so the first is chosen.
        assert_eq!(found.chosen_c, [1e-4; 5]);
    }

    #[test]
    fn the_smallest_data_are_answered() {
        for labels in [vec![0, 1], vec![0, 1, 1], vec![0, 1, 2], vec![1, 0, 1, 0]] {
            let found = probe().evaluate(&random(labels.len(), 3), &labels, Seed::new(0));
            assert!(
                (0.0..=1.0).contains(&found.unwrap().unwrap().mean),
                "{labels:?}"
            );
        }
    }

    #[test]
    fn nearly_no_penalty_still_converges() {
        let labels: Vec<usize> = (0..80).map(|i| i * i % 7 % 2).collect();
        for (d, c) in [(2, 1e9), (30, 1e6)] {
            let probe = LinearProbeConfig::default().with_grid(vec![c]).init();
            let found = probe.evaluate(&random(80, d), &labels, Seed::new(0));
            assert_eq!(found.unwrap().unwrap().chosen_c, [c; 5]);
        }
    }

    #[test]
    fn the_number_of_threads_does_not_count() {
        let labels: Vec<usize> = (0..90).map(|i| i * i % 7 % 3).collect();
        let found = [1, 2, 4].map(|n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
            let pool = pool.build().unwrap();
            pool.install(|| probe().evaluate(&random(90, 12), &labels, Seed::new(0)))
        });
        assert_eq!(found[0], found[1]);
        assert_eq!(found[0], found[2]);
    }

    #[test]
    fn a_single_class_has_no_accuracy() {
        let found = probe().evaluate(&random(9, 2), &[3; 9], Seed::new(0));
        assert_eq!(found, Ok(None));
        // In training alone it is always answered.
        let x = random(4, 2);
        assert_eq!(probe().accuracy(&x, &[3; 4], &x, &[3, 3, 1, 0]), Ok(0.5));
    }

    #[test]
    fn settings_are_checked() {
        for grid in [vec![], vec![0.0], vec![1.0, 1.0], vec![f64::INFINITY]] {
            let found = LinearProbeConfig::default()
                .with_grid(grid.clone())
                .try_init();
            let expected =
                format!("grid for C: found {grid:?}, expected finite numbers above 0, ascending");
            assert_eq!(found.unwrap_err().to_string(), expected);
        }
        let found = LinearProbeConfig::default().with_n_folds(1).try_init();
        let expected = "folds: found 1, expected at least 2";
        assert_eq!(found.unwrap_err().to_string(), expected);
    }
}
