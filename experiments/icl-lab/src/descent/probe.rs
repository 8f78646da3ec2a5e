//! The protocol of the linear classifiers that papers print.

use icl_core::Seed;
use icl_eval::cross_validation::{
    Tunable, choose, labels_of, n_folds_for, over_folds, share_right, shuffled_stratified_folds,
};
use icl_eval::{Accuracy, EvalError, Matrix, Watch, Work};

use super::fit::{Fitted, LabelledRows, Recipe, columns};
use super::rule::{DescentRule, RateDecay};

/// Number of inner folds.
const N_INNER_FOLDS: usize = 5;

/// Protocol of a linear classifier that is trained for a fixed number of epochs, as papers print it.
///
/// ```text
/// minimise the mean of −log softmax(W·xᵢ + b)_yᵢ, from W ~ U(−√(6/(d + classes)), √(6/(d + classes))), b = 0
/// ```
///
/// Features are not standardised, and the classifier need not have converged: its accuracy depends on the
/// scale of the features, on the learning rate and on the number of updates. It is meant for tables next to
/// those of a paper; [`LinearProbe`](icl_eval::LinearProbe) measures what a linear map can tell.
///
/// The learning rate is chosen by inner folds of each training part, the smallest of several with the best
/// mean accuracy. DACL chooses among three without a validation set (Verma et al., 2021, section 5.3), so by
/// the accuracy on the test folds; [`evaluate`](Self::evaluate) measures both.
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
/// use icl_eval::Matrix;
/// use icl_lab::descent::DescentProbe;
///
/// // Forty samples on a line; the class is the side of the middle.
/// let embeddings = Matrix::try_new((-20..20).map(f64::from).collect(), 1)?;
/// let labels: Vec<usize> = (0..40).map(|i| i / 20).collect();
/// let probe = DescentProbe::info_graph(Seed::new(0));
/// let accuracies = probe.evaluate(&embeddings, &labels, Seed::new(0))?;
/// let accuracies = accuracies.expect("two classes");
/// println!("chosen by inner folds: {:.3}", accuracies.chosen.mean);
/// let best = accuracies.best_on_test();
/// println!("best on the test folds: {:.3} at the learning rate {}", best.accuracy.mean, best.rate);
/// # Ok::<(), icl_eval::EvalError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DescentProbe {
    recipe: Recipe,
    /// Learning rates to choose from, ascending.
    rates: Vec<f64>,
    n_folds: usize,
    /// Seed of first weights and batches.
    seed: Seed,
}

/// Accuracies of [`DescentProbe`] by cross-validation.
#[derive(Debug, Clone, PartialEq)]
pub struct DescentAccuracies {
    /// Accuracy with the learning rate that inner folds choose in each outer fold.
    pub chosen: Accuracy,
    /// Learning rate chosen in each outer fold.
    pub chosen_rates: Vec<f64>,
    /// Accuracy with each learning rate in all outer folds, ascending by rate.
    pub by_rate: Vec<RateAccuracy>,
}

/// Accuracy of [`DescentProbe`] with one learning rate in all outer folds.
#[derive(Debug, Clone, PartialEq)]
pub struct RateAccuracy {
    /// Learning rate.
    pub rate: f64,
    /// Accuracy over the outer folds.
    pub accuracy: Accuracy,
}

impl DescentAccuracies {
    /// Returns the learning rate with the best mean accuracy on the test folds, the smallest of several.
    ///
    /// The choice uses the labels of the test folds, so the accuracy is too high by the choice. It is the
    /// one that papers without a validation set report.
    pub fn best_on_test(&self) -> &RateAccuracy {
        let mut best = &self.by_rate[0];
        for candidate in &self.by_rate[1..] {
            if candidate.accuracy.mean > best.accuracy.mean {
                best = candidate;
            }
        }
        best
    }
}

impl DescentProbe {
    /// Returns the classifier of InfoGraph's code (Sun et al., 2020, `logistic_classify`), which DACL
    /// follows on graphs (Verma et al., 2021, section 5.3): 100 updates by Adam on all samples at once, 10
    /// folds. The learning rates to choose from are those of DACL, 10⁻⁴, 10⁻³ and 10⁻²; InfoGraph's is
    /// 10⁻². First weights come from the seed.
    pub fn info_graph(seed: Seed) -> Self {
        Self {
            recipe: Recipe {
                rule: DescentRule::Adam,
                decay: RateDecay::Constant,
                n_epochs: 100,
                batch_size: None,
            },
            rates: vec![1e-4, 1e-3, 1e-2],
            n_folds: 10,
            seed,
        }
    }

    /// Returns the classifier of DACL's tables (Verma et al., 2021, section 5.1): epochs in batches of 256 by
    /// LARS, with a learning rate that falls as a cosine, without weight decay. The paper prints 200 epochs,
    /// and a learning rate of 0.1 for tables and of 1 for images (section 5.2). The paper tests on the test
    /// set of the data; the number of folds is the usual 5. First weights and batches come from the seed.
    pub fn dacl_tables(rate: f64, n_epochs: usize, seed: Seed) -> Self {
        Self {
            recipe: Recipe {
                rule: DescentRule::Lars,
                decay: RateDecay::Cosine,
                n_epochs,
                batch_size: Some(256),
            },
            rates: vec![rate],
            n_folds: 5,
            seed,
        }
    }

    /// Measures the accuracy on given test samples of a classifier trained on given training samples, with
    /// the learning rate chosen by inner folds of the training samples.
    ///
    /// # Errors
    /// [`EvalError`] if weights are not finite after the training.
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
        assert_eq!(
            test.n_columns(),
            training.n_columns(),
            "samples (left) must have the width of the training samples (right)"
        );
        let fitted = self.fit(training, training_labels, &self.rates, self.seed)?;
        let watch = Watch::new();
        let work = Work::new(&watch, N_INNER_FOLDS * self.rates.len());
        let place = self.choose_rate(training, training_labels, &work)?;
        Ok(shares_right(&fitted, test, test_labels)[place])
    }

    /// Measures the accuracies on embeddings `[n, d]` with these labels, on folds drawn from the seed: the
    /// folds of [`Protocol::evaluate`](icl_eval::Protocol::evaluate). The result is `None` for a single class.
    ///
    /// # Errors
    /// [`EvalError`] if weights are not finite after the training.
    ///
    /// # Panics
    /// If there is not one label for each row.
    pub fn evaluate(
        &self,
        embeddings: &Matrix,
        labels: &[usize],
        seed: Seed,
    ) -> Result<Option<DescentAccuracies>, EvalError> {
        let Some(n_folds) = n_folds_for(labels, self.n_folds) else {
            return Ok(None);
        };
        let folds = shuffled_stratified_folds(labels, n_folds, seed.child("folds"));
        let rates = &self.rates;
        let samples = LabelledSamples {
            probe: self,
            embeddings,
            labels,
        };
        let watch = Watch::new();
        let work = Work::new(&watch, n_folds * (N_INNER_FOLDS + 1) * rates.len());
        let of_folds = over_folds(&folds, |training, test| {
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
        let n_inner = n_folds_for(labels, N_INNER_FOLDS).unwrap_or(2);
        let samples = LabelledSamples {
            probe: self,
            embeddings: training,
            labels,
        };
        let rows: Vec<usize> = (0..labels.len()).collect();
        let rates = &self.rates;
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
        assert_eq!(
            training.n_rows(),
            labels.len(),
            "there must be one label (right) for each row (left)"
        );
        assert!(
            !labels.is_empty(),
            "expected at least one training sample, found none"
        );
        let rows = LabelledRows::new(training, labels);
        let start = rows.xavier(seed.child("init"));
        let batches = seed.child("batches");
        let order = |epoch: usize| rows.shuffled(batches.at(epoch as u64));
        self.recipe.fit(&rows, rates, &start, order)
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
        let labels = labels_of(self.labels, training);
        // No two folds have the same first test sample.
        let seed = self.probe.seed.at(test[0] as u64);
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

    fn batched(rates: &[f64], seed: u64) -> DescentProbe {
        let mut probe = DescentProbe::dacl_tables(1.0, 5, Seed::new(seed));
        probe.rates = rates.to_vec();
        probe.recipe.batch_size = Some(16);
        probe
    }

    #[test]
    fn classes_are_told_apart_by_both_classifiers() {
        let (x, labels) = samples(150, 12);
        let adam = DescentProbe::info_graph(Seed::new(0));
        for probe in [adam, batched(&[300.0], 0)] {
            let found = probe.evaluate(&x, &labels, Seed::new(0)).unwrap().unwrap();
            assert!(found.chosen.mean > 0.6, "{found:?}");
        }
    }

    #[test]
    fn inner_folds_choose_and_the_best_on_test_is_at_least_as_good() {
        let (x, labels) = samples(90, 9);
        let mut probe = DescentProbe::info_graph(Seed::new(0));
        let found = probe.evaluate(&x, &labels, Seed::new(2)).unwrap().unwrap();
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
        probe.rates = vec![best.rate];
        let single = probe.evaluate(&x, &labels, Seed::new(2)).unwrap().unwrap();
        assert_eq!(single.chosen.per_fold, best.accuracy.per_fold);
    }

    #[test]
    fn a_given_split_is_measured_with_the_rate_of_inner_folds() {
        let (x, labels) = samples(120, 6);
        let (training, test): (Vec<usize>, Vec<usize>) = (0..120).partition(|i| i % 4 != 0);
        let (trained, tested) = (labels_of(&labels, &training), labels_of(&labels, &test));
        let (training, test) = (x.select(&training), x.select(&test));
        let rates = [1.0, 30.0];
        let probe = batched(&rates, 0);
        let watch = Watch::new();
        let place = probe.choose_rate(&training, &trained, &Work::new(&watch, 1));
        let alone = batched(&[rates[place.unwrap()]], 0);
        let [chosen, alone] =
            [probe, alone].map(|probe| probe.accuracy(&training, &trained, &test, &tested));
        assert_eq!(chosen.unwrap(), alone.unwrap());
    }

    #[test]
    fn the_seed_counts_and_the_number_of_threads_does_not() {
        let (x, labels) = samples(90, 12);
        let rows = LabelledRows::new(&x, &labels);
        assert_ne!(rows.shuffled(Seed::new(1)), rows.shuffled(Seed::new(2)));
        let evaluate = |seed: u64, n_threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
            let pool = pool.build().unwrap();
            pool.install(|| batched(&[1.0, 30.0], seed).evaluate(&x, &labels, Seed::new(0)))
        };
        assert_eq!(evaluate(1, 1).unwrap(), evaluate(1, 3).unwrap());
        assert_ne!(evaluate(1, 1).unwrap(), evaluate(2, 1).unwrap());
    }

    #[test]
    fn a_single_class_has_no_accuracy() {
        let (x, _) = samples(9, 2);
        let probe = batched(&[1.0, 30.0], 0);
        assert_eq!(probe.evaluate(&x, &[3; 9], Seed::new(0)), Ok(None));
        // In training alone it is always answered.
        let test = [3, 3, 3, 1, 1, 1, 1, 1, 1];
        assert_eq!(probe.accuracy(&x, &[3; 9], &x, &test), Ok(1.0 / 3.0));
    }
}
