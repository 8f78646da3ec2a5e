//! The protocol of the linear classifiers that papers print.

use icl_core::Seed;

use super::accuracies::{DescentAccuracies, RateAccuracy};
use super::config::DescentProbeConfig;
use super::fit::{LabelledRows, columns};
use crate::cross_validation::{
    Tunable, check_folds, choose, count_folds, n_folds_for, over_folds, share_right,
    shuffled_stratified_folds,
};
use crate::linear::softmax::Fitted;
use crate::matrix::{assert_labelled, labels_of};
use crate::watch::Work;
use crate::{Accuracy, CrossValidated, EvalError, Matrix, Watch};

/// Protocol of a linear classifier that is trained for a fixed number of epochs, as papers print it.
///
/// ```text
/// minimise the mean of −log softmax(W·xᵢ + b)_yᵢ, from W ~ U(−√(6/(d + classes)), √(6/(d + classes))), b = 0
/// ```
///
/// Features are not standardised, and the classifier need not have converged: its accuracy depends on the
/// scale of the features, on the learning rate and on the number of updates. It is meant for tables beside
/// those of a paper; [`LinearProbe`](crate::LinearProbe) measures what a linear map can tell.
///
/// [`Protocol::evaluate`](crate::Protocol::evaluate) chooses the learning rate by inner folds of each training part, the smallest of
/// several with the best mean accuracy. DACL chooses among three without a validation set (Verma et al.,
/// 2021, section 5.3), so by the accuracy on the test folds;
/// [`evaluate_rates`](Self::evaluate_rates) measures both. [`Accuracy::chosen_c`] is empty.
///
/// Deviations from InfoGraph's code (Sun et al., 2020): double precision; a class that is missing from a
/// training part has no weights; folds, first weights and batches come from seeds. Those of a fold are
/// numbered by its first test sample, and the result does not depend on the number of threads. The
/// classifiers of all learning rates have the same first weights and batches.
///
/// With n samples of width d, an epoch takes a time of n·d·classes for each learning rate.
///
/// ```
/// use icl_core::Seed;
/// use icl_eval::{DescentProbeConfig, Matrix};
///
/// // Forty samples on a line; the class is the side of the middle.
/// let embeddings = Matrix::try_new((-20..20).map(f64::from).collect(), 1)?;
/// let labels: Vec<usize> = (0..40).map(|i| i / 20).collect();
/// let probe = DescentProbeConfig::info_graph().try_init()?;
/// let accuracies = probe.evaluate_rates(&embeddings, &labels, Seed::new(0))?;
/// let accuracies = accuracies.expect("two classes");
/// println!("chosen by inner folds: {:.3}", accuracies.chosen.mean);
/// let best = accuracies.best_on_test();
/// println!("best on the test folds: {:.3} at the learning rate {}", best.accuracy.mean, best.rate);
/// # Ok::<(), icl_eval::EvalError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DescentProbe {
    config: DescentProbeConfig,
}

impl DescentProbeConfig {
    /// Creates the protocol.
    ///
    /// # Errors
    /// - [`EvalError::Rates`] if there is no learning rate, they are not ascending, or one is not a finite
    ///   number above 0;
    /// - [`EvalError::Zero`] if the number of epochs or the batch size is 0;
    /// - [`EvalError::FoldCount`] if there are fewer than two outer or inner folds.
    pub fn try_init(self) -> Result<DescentProbe, EvalError> {
        let config = self.checked()?;
        Ok(DescentProbe { config })
    }

    /// Creates the protocol.
    ///
    /// # Panics
    /// If [`try_init`](Self::try_init) returns an error, with the message of the error.
    pub fn init(self) -> DescentProbe {
        self.try_init().unwrap_or_else(|error| panic!("{error}"))
    }
}

impl DescentProbe {
    /// Measures the accuracy on given test samples of a classifier trained on given training samples, with
    /// the learning rate chosen by inner folds of the training samples.
    ///
    /// # Errors
    /// [`EvalError::Diverged`] if weights are not finite after the training.
    ///
    /// # Panics
    /// If there is not one label for each row of both matrices, one of them has no rows, or their widths
    /// differ.
    pub fn accuracy(
        &self,
        training: &Matrix,
        training_labels: &[usize],
        test: &Matrix,
        test_labels: &[usize],
    ) -> Result<f64, EvalError> {
        let by_rate = self.accuracy_by_rate(training, training_labels, test, test_labels)?;
        let watch = Watch::new();
        let work = Work::new(&watch, self.config.n_inner_folds * self.config.rates.len());
        Ok(by_rate[self.choose_rate(training, training_labels, &work)?])
    }

    /// Measures the accuracy on given test samples with each learning rate, ascending by rate. The best of
    /// them is chosen on the test samples.
    ///
    /// # Errors
    /// [`EvalError::Diverged`] if weights are not finite after the training.
    ///
    /// # Panics
    /// If there is not one label for each row of both matrices, one of them has no rows, or their widths
    /// differ.
    pub fn accuracy_by_rate(
        &self,
        training: &Matrix,
        training_labels: &[usize],
        test: &Matrix,
        test_labels: &[usize],
    ) -> Result<Vec<f64>, EvalError> {
        assert_labelled(test, test_labels);
        assert_eq!(
            test.n_columns(),
            training.n_columns(),
            "samples (left) must have the width of the training samples (right)"
        );
        let config = &self.config;
        let fitted = self.fit(training, training_labels, &config.rates, config.seed)?;
        Ok(shares_right(&fitted, test, test_labels))
    }

    /// Measures the accuracies on embeddings `[n, d]` with these labels, on folds drawn from the seed: the
    /// folds of [`Protocol::evaluate`](crate::Protocol::evaluate). The result is `None` for a single class.
    ///
    /// # Errors
    /// [`EvalError::Diverged`] if weights are not finite after the training.
    ///
    /// # Panics
    /// If there is not one label for each row.
    pub fn evaluate_rates(
        &self,
        embeddings: &Matrix,
        labels: &[usize],
        seed: Seed,
    ) -> Result<Option<DescentAccuracies>, EvalError> {
        assert_labelled(embeddings, labels);
        let Some(n_folds) = n_folds_for(labels, self.config.n_folds) else {
            return Ok(None);
        };
        let folds = shuffled_stratified_folds(labels, n_folds, seed.child("folds"));
        self.evaluate_rates_on_folds(embeddings, labels, &folds)
    }

    /// Measures the accuracies on embeddings `[n, d]` with given outer folds, as
    /// [`CrossValidated::evaluate_on_folds`](crate::CrossValidated::evaluate_on_folds) does.
    ///
    /// # Errors
    /// - [`EvalError::FoldCount`] if there are fewer than two folds;
    /// - [`EvalError::EmptyFold`] if a fold has no sample;
    /// - [`EvalError::Diverged`] if weights are not finite after the training.
    ///
    /// # Panics
    /// If there is not one label and one fold for each row.
    pub fn evaluate_rates_on_folds(
        &self,
        embeddings: &Matrix,
        labels: &[usize],
        folds: &[usize],
    ) -> Result<Option<DescentAccuracies>, EvalError> {
        self.evaluate_rates_on_folds_with(embeddings, labels, folds, &Watch::new())
    }

    /// Measures as [`evaluate_rates_on_folds`](Self::evaluate_rates_on_folds) does, and is watched.
    fn evaluate_rates_on_folds_with(
        &self,
        embeddings: &Matrix,
        labels: &[usize],
        folds: &[usize],
        watch: &Watch<'_>,
    ) -> Result<Option<DescentAccuracies>, EvalError> {
        assert_labelled(embeddings, labels);
        check_folds(labels, folds)?;
        if n_folds_for(labels, self.config.n_folds).is_none() {
            return Ok(None);
        }
        let rates = &self.config.rates;
        let samples = LabelledSamples {
            probe: self,
            embeddings,
            labels,
        };
        let n_units = count_folds(folds) * (self.config.n_inner_folds + 1) * rates.len();
        let work = Work::new(watch, n_units);
        let of_folds = over_folds(folds, |training, test| {
            let (trained, labels) = (embeddings.select(training), labels_of(labels, training));
            let place = self.choose_rate(&trained, &labels, &work)?;
            Ok((place, samples.accuracies(training, test, rates, &work)?))
        })?;
        let by_rate: Vec<RateAccuracy> = rates
            .iter()
            .enumerate()
            .map(|(place, &rate)| {
                let per_fold = of_folds.iter().map(|(_, accuracies)| accuracies[place]);
                RateAccuracy {
                    rate,
                    accuracy: Accuracy::of_folds(per_fold.collect(), Vec::new()),
                }
            })
            .collect();
        let chosen = of_folds
            .iter()
            .map(|(place, accuracies)| accuracies[*place]);
        Ok(Some(DescentAccuracies {
            chosen: Accuracy::of_folds(chosen.collect(), Vec::new()),
            chosen_rates: of_folds.iter().map(|(place, _)| rates[*place]).collect(),
            by_rate,
        }))
    }

    /// Returns the position of the learning rate that inner folds of the training samples choose.
    fn choose_rate(
        &self,
        training: &Matrix,
        labels: &[usize],
        work: &Work<'_>,
    ) -> Result<usize, EvalError> {
        // With a single class nothing is chosen, whatever the number of inner folds.
        let n_inner = n_folds_for(labels, self.config.n_inner_folds).unwrap_or(2);
        let samples = LabelledSamples {
            probe: self,
            embeddings: training,
            labels,
        };
        let rows: Vec<usize> = (0..labels.len()).collect();
        let rates = &self.config.rates;
        let rate = choose(&samples, &rows, rates, n_inner, work)?;
        Ok(rates.partition_point(|other| *other < rate))
    }

    /// Fits a classifier with each of these learning rates.
    fn fit(
        &self,
        training: &Matrix,
        labels: &[usize],
        rates: &[f64],
        seed: Seed,
    ) -> Result<Vec<Fitted>, EvalError> {
        assert_labelled(training, labels);
        assert!(
            !labels.is_empty(),
            "expected at least one training sample, found none"
        );
        let rows = LabelledRows::new(training, labels);
        let start = rows.xavier(seed.child("init"));
        let batches = seed.child("batches");
        let order = |epoch: usize| rows.shuffled(batches.at(epoch as u64));
        self.config.recipe.fit(&rows, rates, &start, order)
    }
}

impl CrossValidated for DescentProbe {
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
        let accuracies = self.evaluate_rates_on_folds_with(embeddings, labels, folds, watch)?;
        Ok(accuracies.map(|accuracies| accuracies.chosen))
    }
}

/// Samples that the folds of a cross-validation select from.
struct LabelledSamples<'a> {
    probe: &'a DescentProbe,
    embeddings: &'a Matrix,
    labels: &'a [usize],
}

impl Tunable for LabelledSamples<'_> {
    fn labels(&self) -> &[usize] {
        self.labels
    }

    fn accuracies(
        &self,
        training: &[usize],
        test: &[usize],
        rates: &[f64],
        work: &Work<'_>,
    ) -> Result<Vec<f64>, EvalError> {
        work.watch.check()?;
        let labels = labels_of(self.labels, training);
        // No two folds have the same first test sample.
        let seed = self.probe.config.seed.at(test[0] as u64);
        let fitted = self
            .probe
            .fit(&self.embeddings.select(training), &labels, rates, seed)?;
        work.advance_by(rates.len());
        let test_labels = labels_of(self.labels, test);
        Ok(shares_right(
            &fitted,
            &self.embeddings.select(test),
            &test_labels,
        ))
    }
}

/// Returns the accuracy of each classifier on the same samples.
fn shares_right(fitted: &[Fitted], samples: &Matrix, labels: &[usize]) -> Vec<f64> {
    let samples = columns(samples);
    let accuracy = |fitted: &Fitted| share_right(&fitted.predict(&samples), labels);
    fitted.iter().map(accuracy).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Protocol;

    use rand::RngExt;

    /// Samples of three classes that overlap.
    fn samples(n: usize, d: usize) -> (Matrix, Vec<usize>) {
        let mut rng = Seed::new(8).rng();
        let labels: Vec<usize> = (0..n).map(|i| 4 + i % 3).collect();
        let values = labels.iter().flat_map(|label| {
            let row: Vec<f64> = (0..d)
                .map(|j| f64::from(u8::from(j % 3 == label - 4)) + rng.random_range(-2.0..2.0))
                .collect();
            row
        });
        (Matrix::try_new(values.collect(), d).unwrap(), labels)
    }

    fn batched() -> DescentProbeConfig {
        DescentProbeConfig::dacl_tables()
            .with_n_epochs(5)
            .with_batch_size(Some(16))
            .with_rates(vec![1.0, 30.0])
            .with_n_folds(3)
            .with_n_inner_folds(2)
    }

    #[test]
    fn classes_are_told_apart_by_both_classifiers() {
        let (x, labels) = samples(150, 12);
        let adam = DescentProbeConfig::info_graph().init();
        let lars = batched().with_rates(vec![300.0]).init();
        for probe in [adam, lars] {
            let found = probe.evaluate(&x, &labels, Seed::new(0)).unwrap().unwrap();
            assert!(found.mean > 0.6, "{found:?}");
            assert!(found.chosen_c.is_empty());
        }
    }

    #[test]
    fn inner_folds_choose_and_the_best_on_test_is_at_least_as_good() {
        let (x, labels) = samples(90, 9);
        let probe = DescentProbeConfig::info_graph().init();
        let found = probe.evaluate_rates(&x, &labels, Seed::new(2));
        let found = found.unwrap().unwrap();
        let evaluated = probe.evaluate(&x, &labels, Seed::new(2)).unwrap().unwrap();
        assert_eq!(evaluated, found.chosen);
        assert_eq!(found.chosen_rates.len(), 10);
        let rates: Vec<f64> = found.by_rate.iter().map(|of_rate| of_rate.rate).collect();
        assert_eq!(rates, [1e-4, 1e-3, 1e-2]);
        for (fold, rate) in found.chosen_rates.iter().enumerate() {
            let of_rate = found.by_rate.iter().find(|of_rate| of_rate.rate == *rate);
            let accuracy = of_rate.unwrap().accuracy.per_fold[fold];
            assert_eq!(accuracy, found.chosen.per_fold[fold]);
        }
        let best = found.best_on_test();
        assert!(
            found
                .by_rate
                .iter()
                .all(|other| other.accuracy.mean <= best.accuracy.mean)
        );
        // A single rate needs no choice.
        let single = DescentProbeConfig::info_graph()
            .with_rates(vec![best.rate])
            .init();
        let single = single.evaluate(&x, &labels, Seed::new(2)).unwrap().unwrap();
        assert_eq!(single.per_fold, best.accuracy.per_fold);
    }

    #[test]
    fn a_given_split_is_measured_with_the_rate_of_inner_folds_and_with_each() {
        let (x, labels) = samples(120, 6);
        let (training, test): (Vec<usize>, Vec<usize>) = (0..120).partition(|i| i % 4 != 0);
        let (trained, tested) = (labels_of(&labels, &training), labels_of(&labels, &test));
        let (training, test) = (x.select(&training), x.select(&test));
        let probe = batched().init();
        let chosen = probe.accuracy(&training, &trained, &test, &tested).unwrap();
        let each = probe.accuracy_by_rate(&training, &trained, &test, &tested);
        let each = each.unwrap();
        assert_eq!(each.len(), 2);
        let watch = Watch::new();
        let place = probe.choose_rate(&training, &trained, &Work::new(&watch, 1));
        assert_eq!(chosen, each[place.unwrap()]);
    }

    #[test]
    fn the_seed_counts_and_the_number_of_threads_does_not() {
        let (x, labels) = samples(90, 12);
        let rows = LabelledRows::new(&x, &labels);
        assert_ne!(rows.shuffled(Seed::new(1)), rows.shuffled(Seed::new(2)));
        let evaluate = |seed: u64, n_threads: usize| {
            let probe = batched().with_seed(Seed::new(seed)).init();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
            let pool = pool.build().unwrap();
            pool.install(|| probe.evaluate_rates(&x, &labels, Seed::new(0)).unwrap())
        };
        assert_eq!(evaluate(1, 1), evaluate(1, 3));
        assert_ne!(evaluate(1, 1), evaluate(2, 1));
    }

    #[test]
    fn a_single_class_has_no_accuracy() {
        let (x, _) = samples(9, 2);
        let probe = batched().init();
        assert_eq!(probe.evaluate(&x, &[3; 9], Seed::new(0)), Ok(None));
        // In training alone it is always answered.
        let test = [3, 3, 3, 1, 1, 1, 1, 1, 1];
        assert_eq!(probe.accuracy(&x, &[3; 9], &x, &test), Ok(1.0 / 3.0));
    }

    #[test]
    fn settings_are_checked() {
        for rates in [vec![], vec![0.0], vec![0.1, 0.1], vec![f64::NAN]] {
            let found = batched().with_rates(rates).try_init();
            assert!(matches!(found, Err(EvalError::Rates { .. })));
        }
        let found = batched().with_n_epochs(0).try_init();
        assert_eq!(found, Err(EvalError::Zero { setting: "epochs" }));
        let found = batched().with_batch_size(Some(0)).try_init().unwrap_err();
        assert_eq!(
            found.to_string(),
            "batch size: found 0, expected at least 1"
        );
        let found = batched().with_n_inner_folds(1).try_init();
        assert_eq!(found, Err(EvalError::FoldCount { found: 1 }));
    }
}
