//! Classification from a few labelled samples of each class.

use std::collections::BTreeMap;

use icl_core::Seed;
use rand::seq::SliceRandom;

use super::knn::{KnnProtocol, KnnProtocolConfig, KnnVotes};
use crate::cross_validation::share_right;
use crate::matrix::{check_count, check_rows, labels_of};
use crate::watch::Work;
use crate::{Accuracy, EvalError, Matrix, Protocol, Watch};

/// Settings of [`FewLabels`].
#[derive(Debug, Clone, PartialEq)]
pub struct FewLabelsConfig {
    n_labels: usize,
    n_draws: usize,
}

impl Default for FewLabelsConfig {
    /// Returns the settings of 5 labelled samples of each class, drawn 20 times.
    fn default() -> Self {
        Self {
            n_labels: 5,
            n_draws: 20,
        }
    }
}

impl FewLabelsConfig {
    /// Sets the number of labelled samples of each class.
    pub fn with_n_labels(self, n_labels: usize) -> Self {
        Self { n_labels, ..self }
    }

    /// Sets the number of times that labelled samples are drawn.
    pub fn with_n_draws(self, n_draws: usize) -> Self {
        Self { n_draws, ..self }
    }

    /// Creates the protocol.
    ///
    /// # Errors
    /// [`EvalError`] if one of the numbers is 0.
    pub fn try_init(self) -> Result<FewLabels, EvalError> {
        for (setting, n) in [
            ("labelled samples of a class", self.n_labels),
            ("draws", self.n_draws),
        ] {
            EvalError::unless(n > 0, setting, 0, "at least 1")?;
        }
        let nearest = KnnProtocolConfig::default().with_k(1);
        Ok(FewLabels {
            nearest: nearest.with_votes(KnnVotes::Uniform).try_init()?,
            config: self,
        })
    }

    /// Creates the protocol.
    ///
    /// # Panics
    /// If [`try_init`](Self::try_init) returns an error, with the message of the error.
    pub fn init(self) -> FewLabels {
        self.try_init().unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Protocol of a few labels: some samples of each class are labelled, and every other one is given the class
/// of the labelled sample that is most similar to it.
///
/// ```text
/// class(x) = class of argmax over labelled i of cos(x, xᵢ)
/// ```
///
/// The accuracy is the mean over several draws of the labelled samples of the share of the others that is
/// right. It says how much of the classes lies in distances alone, which a linear classifier on thousands of
/// labels does not: with these even raw features often reach the accuracy of any encoder.
///
/// Draws depend on labels and seed alone, so the accuracies of several encoders and their
/// [`Floors`](crate::Floors) are paired. Of a class with m members at most m − 1 are labelled, or its only one.
/// [`Accuracy::n_folds`] is the number of draws. With a single class, or no sample left to classify, there is no
/// accuracy. Of equally similar labelled samples the one with the lower index counts.
///
/// Source: nearest-neighbour classification from a few labels on frozen features, as in Wang, Chao, Weinberger and
/// van der Maaten (2019), "SimpleShot". Deviations: the nearest labelled sample decides and not the nearest mean of
/// a class, features are not centred, and all classes are separated at once, on all other samples.
///
/// ```
/// use icl_core::Seed;
/// use icl_eval::{FewLabelsConfig, Matrix, Protocol};
///
/// // Forty samples on two arms; the class is the arm.
/// let points = (1..=40).map(f64::from).map(|i| if i < 21.0 { [i, 0.0] } else { [0.0, i] });
/// let embeddings = Matrix::try_new(points.flatten().collect(), 2)?;
/// let labels: Vec<usize> = (0..40).map(|i| i / 20).collect();
/// let accuracy = FewLabelsConfig::default().try_init()?.evaluate(&embeddings, &labels, Seed::new(0))?;
/// assert_eq!(accuracy.map(|accuracy| accuracy.mean), Some(1.0));
/// # Ok::<(), icl_eval::EvalError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FewLabels {
    config: FewLabelsConfig,
    nearest: KnnProtocol,
}

impl FewLabels {
    /// Measures the accuracy on the samples that are not in `labelled`, given the classes of those that are.
    ///
    /// # Errors
    /// [`EvalError`] if there is not one label for each row, an index of `labelled`
    /// is not below the number of rows, or either part has no sample.
    pub fn accuracy(
        &self,
        embeddings: &Matrix,
        labels: &[usize],
        labelled: &[usize],
    ) -> Result<f64, EvalError> {
        let watch = Watch::new();
        self.accuracy_with(embeddings, labels, labelled, &Work::new(&watch, 1))
    }

    /// Measures as [`accuracy`](Self::accuracy) does, and counts each classified sample as a unit of the work.
    fn accuracy_with(
        &self,
        embeddings: &Matrix,
        labels: &[usize],
        labelled: &[usize],
        work: &Work<'_>,
    ) -> Result<f64, EvalError> {
        check_count("labels", labels.len(), embeddings)?;
        check_rows("labelled", labelled, labels.len())?;
        let mut is_labelled = vec![false; labels.len()];
        labelled.iter().for_each(|&at| is_labelled[at] = true);
        let rest: Vec<usize> = (0..labels.len()).filter(|&at| !is_labelled[at]).collect();
        let predictions = self.nearest.predict_with(
            &embeddings.select(labelled),
            &labels_of(labels, labelled),
            &embeddings.select(&rest),
            work,
        )?;
        Ok(share_right(&predictions, &labels_of(labels, &rest)))
    }

    /// Draws the labelled samples, ascending: of each class as many as are set, and one less than there are at
    /// most.
    fn draw(&self, classes: &BTreeMap<usize, Vec<usize>>, seed: Seed) -> Vec<usize> {
        let mut rng = seed.rng();
        let mut labelled = Vec::new();
        for members in classes.values() {
            let n = self.config.n_labels.min(members.len() - 1).max(1);
            let mut members = members.clone();
            let (drawn, _) = members.partial_shuffle(&mut rng, n);
            labelled.extend_from_slice(drawn);
        }
        labelled.sort_unstable();
        labelled
    }
}

impl Protocol for FewLabels {
    fn evaluate_with(
        &self,
        embeddings: &Matrix,
        labels: &[usize],
        seed: Seed,
        watch: &Watch<'_>,
    ) -> Result<Option<Accuracy>, EvalError> {
        check_count("labels", labels.len(), embeddings)?;
        let mut classes: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, label) in labels.iter().enumerate() {
            classes.entry(*label).or_default().push(at);
        }
        if classes.len() < 2 || classes.values().all(|members| members.len() < 2) {
            return Ok(None);
        }
        let n_draws = self.config.n_draws;
        let work = Work::new(watch, labels.len() * n_draws);
        let draws = (0..n_draws).map(|draw| {
            watch.check()?;
            let labelled = self.draw(&classes, seed.child("few-labels").at(draw as u64));
            self.accuracy_with(embeddings, labels, &labelled, &work)
        });
        let draws: Vec<f64> = draws.collect::<Result<_, _>>()?;
        Ok(Some(Accuracy::of_folds(draws, Vec::new())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    fn random(n: usize, d: usize) -> Matrix {
        let mut rng = Seed::new(8).rng();
        let values = (0..n * d).map(|_| rng.random_range(-1.0..1.0));
        Matrix::try_new(values.collect(), d).unwrap()
    }

    fn classes(labels: &[usize]) -> BTreeMap<usize, Vec<usize>> {
        let mut classes: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, label) in labels.iter().enumerate() {
            classes.entry(*label).or_default().push(at);
        }
        classes
    }

    /// The definition by two loops over samples.
    fn by_loops(x: &Matrix, labels: &[usize], labelled: &[usize]) -> f64 {
        let rows: Vec<&[f64]> = x.rows().collect();
        let cosine = |a: &[f64], b: &[f64]| {
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
        };
        let (mut right, mut n) = (0, 0);
        for (at, row) in rows.iter().enumerate() {
            if labelled.contains(&at) {
                continue;
            }
            let mut nearest = labelled[0];
            for &other in labelled {
                if cosine(row, rows[other]) > cosine(row, rows[nearest]) {
                    nearest = other;
                }
            }
            n += 1;
            right += usize::from(labels[nearest] == labels[at]);
        }
        f64::from(right as u32) / f64::from(n as u32)
    }

    #[test]
    fn the_mean_is_over_the_draws() {
        let x = random(80, 4);
        let labels: Vec<usize> = (0..80).map(|i| i * i % 7 % 3).collect();
        let protocol = FewLabelsConfig::default().with_n_draws(6).init();
        let seed = Seed::new(3);
        let found = protocol.evaluate(&x, &labels, seed).unwrap().unwrap();
        let draws = (0..6).map(|draw| {
            let labelled = protocol.draw(&classes(&labels), seed.child("few-labels").at(draw));
            by_loops(&x, &labels, &labelled)
        });
        assert_eq!(found.per_fold, draws.collect::<Vec<_>>());
        assert_eq!(found.n_folds, 6);
        assert!((found.mean - found.per_fold.iter().sum::<f64>() / 6.0).abs() < 1e-15);
    }

    #[test]
    fn each_class_has_as_many_labels_as_it_can() {
        let labels = [vec![0; 30], vec![1; 5], vec![2; 2], vec![3; 1]].concat();
        let protocol = FewLabelsConfig::default().init();
        let count = |labelled: &[usize]| {
            let mut counts = [0; 4];
            labelled.iter().for_each(|&at| counts[labels[at]] += 1);
            counts
        };
        let first = protocol.draw(&classes(&labels), Seed::new(1));
        let second = protocol.draw(&classes(&labels), Seed::new(2));
        assert_eq!(count(&first), [5, 4, 1, 1]);
        assert_eq!(count(&second), [5, 4, 1, 1]);
        assert_ne!(first, second);
        assert!(first.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn labels_that_say_nothing_give_chance() {
        let mut rng = Seed::new(4).rng();
        let labels: Vec<usize> = (0..600).map(|_| rng.random_range(0..3)).collect();
        let protocol = FewLabelsConfig::default().init();
        let found = protocol.evaluate(&random(600, 6), &labels, Seed::new(0));
        // A third, with a standard error below 0.02.
        assert!((found.unwrap().unwrap().mean - 1.0 / 3.0).abs() < 0.06);
    }

    #[test]
    fn without_two_classes_or_a_sample_to_classify_there_is_no_accuracy() {
        let protocol = FewLabelsConfig::default().init();
        let none = |labels: &[usize]| {
            protocol.evaluate(&random(labels.len(), 2), labels, Seed::new(0)) == Ok(None)
        };
        assert!(none(&[3; 9]) && none(&[1, 2, 3]));
        assert!(!none(&[1, 2, 2]));
    }

    #[test]
    fn settings_are_checked_and_a_watch_stops_it() {
        let config = FewLabelsConfig::default;
        for (config, setting) in [
            (config().with_n_labels(0), "labelled samples of a class"),
            (config().with_n_draws(0), "draws"),
        ] {
            let found = config.try_init().unwrap_err().to_string();
            assert_eq!(found, format!("{setting}: found 0, expected at least 1"));
        }
        let watch = Watch::new().stop_when(|| true);
        let found =
            config()
                .init()
                .evaluate_with(&random(4, 2), &[0, 0, 1, 1], Seed::new(0), &watch);
        let found = found.map_err(|error| error.kind());
        assert_eq!(found, Err(crate::EvalErrorKind::Interrupted));
    }
}
