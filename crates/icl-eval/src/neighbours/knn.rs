//! Classification by the nearest neighbours, a protocol that trains nothing.

use nalgebra::DMatrix;
use rayon::prelude::*;

use super::directions::{Directions, nearest_first, neighbour};
use crate::cross_validation::{
    check_folds, checked_n_folds, measure_folds, n_folds_for, share_right,
};
use crate::error::check_k;
use crate::matrix::{check_count, check_width, labels_of};
use crate::watch::Work;
use crate::{Accuracy, CrossValidated, EvalError, Matrix, Watch};

/// Number of samples whose similarities are held at a time. With n training samples these take 512·n
/// bytes in each thread.
const CHUNK: usize = 64;

/// Weight of the vote of a neighbour.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KnnVotes {
    /// Weight exp(s / T), with s the cosine similarity (Wu et al., 2018).
    Exponential {
        /// Temperature T, a finite number above 0.
        temperature: f64,
    },
    /// Weight 1 for every neighbour.
    Uniform,
}

/// Settings of [`KnnProtocol`].
#[derive(Debug, Clone, PartialEq)]
pub struct KnnProtocolConfig {
    k: usize,
    votes: KnnVotes,
    n_folds: usize,
}

impl Default for KnnProtocolConfig {
    /// Returns the settings k = 20, votes weighted with T = 0.07, 5 folds.
    ///
    /// The temperature is that of Wu et al. (2018). Their k = 200 suits the 1300 images in each class of
    /// ImageNet; with fewer than 200 samples in a class, 200 neighbours include other classes whatever
    /// the embedding. k = 20 is the value that Caron et al. (2021) found best for most encoders, also on
    /// ImageNet.
    fn default() -> Self {
        Self {
            k: 20,
            votes: KnnVotes::Exponential { temperature: 0.07 },
            n_folds: 5,
        }
    }
}

impl KnnProtocolConfig {
    /// Sets the number of neighbours k. If there are fewer training samples, all of them vote.
    pub fn with_k(self, k: usize) -> Self {
        Self { k, ..self }
    }

    /// Sets the weights of the votes.
    pub fn with_votes(self, votes: KnnVotes) -> Self {
        Self { votes, ..self }
    }

    /// Sets the number of folds.
    pub fn with_n_folds(self, n_folds: usize) -> Self {
        Self { n_folds, ..self }
    }

    /// Creates the protocol.
    ///
    /// # Errors
    /// [`EvalError`] if k is 0, the temperature is not a finite number above 0, or there are fewer than two folds.
    pub fn try_init(self) -> Result<KnnProtocol, EvalError> {
        check_k(self.k)?;
        if let KnnVotes::Exponential { temperature: found } = self.votes {
            let is_valid = found.is_finite() && found > 0.0;
            let expected = "a finite number above 0";
            EvalError::unless(is_valid, "temperature (T)", found, expected)?;
        }
        let n_folds = checked_n_folds(self.n_folds)?;
        Ok(KnnProtocol {
            config: Self { n_folds, ..self },
        })
    }

    /// Creates the protocol.
    ///
    /// # Panics
    /// If [`try_init`](Self::try_init) returns an error, with the message of the error.
    pub fn init(self) -> KnnProtocol {
        self.try_init().unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Protocol of the k nearest neighbours: the class of each sample of an outer fold is predicted by the
/// votes of the k samples outside the fold that are most similar to it.
///
/// ```text
/// class(x) = argmax over c of Σ_{i ∈ N_k(x), y_i = c} exp(cos(x, x_i) / T)
/// ```
///
/// N_k(x) are the k training samples with the greatest cosine similarity to x; of equally similar ones
/// those with the lower index are nearer. If several classes have equally many votes, the class of the
/// nearest of their neighbours is predicted. A row of zeros has similarity 0 to every row. Features are
/// not scaled: predictions do not depend on the length of a row, but on the scale of the columns
/// relative to each other.
///
/// Nothing is fitted and no penalty chosen, so [`Accuracy::chosen_c`] is empty and fits have no errors.
/// With n samples of width d the time is n²·d, on rayon's threads; the result does not depend on their
/// number. Similarities are held for 64 samples at a time.
///
/// Sources: Wu, Xiong, Yu and Lin (2018), "Unsupervised feature learning via non-parametric instance
/// discrimination", section 3.4; Caron et al. (2021), "Emerging properties in self-supervised vision
/// transformers", appendix.
///
/// ```
/// use icl_eval::{KnnProtocolConfig, Matrix};
///
/// // A data set with a division into training and test samples of its own.
/// let training = Matrix::try_new(vec![1.0, 0.0, 0.9, 0.1, 0.0, 1.0], 2)?;
/// let test = Matrix::try_new(vec![3.0, 0.2, 0.1, 0.5], 2)?;
/// let protocol = KnnProtocolConfig::default().with_k(1).try_init()?;
/// assert_eq!(protocol.accuracy(&training, &[4, 4, 7], &test, &[4, 7])?, 1.0);
/// # Ok::<(), icl_eval::EvalError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct KnnProtocol {
    config: KnnProtocolConfig,
}

impl KnnProtocol {
    /// Predicts the class of each row of `samples` by its neighbours among the rows of `training`.
    ///
    /// # Errors
    /// [`EvalError`] if there is not one label for each row of `training`, one
    /// of the matrices has no rows, or their widths differ.
    pub fn predict(
        &self,
        training: &Matrix,
        labels: &[usize],
        samples: &Matrix,
    ) -> Result<Vec<usize>, EvalError> {
        let watch = Watch::new();
        let work = Work::new(&watch, samples.n_rows());
        self.predict_with(training, labels, samples, &work)
    }

    /// Predicts as [`predict`](Self::predict) does, and counts each sample as a unit of the work.
    pub(super) fn predict_with(
        &self,
        training: &Matrix,
        labels: &[usize],
        samples: &Matrix,
        work: &Work<'_>,
    ) -> Result<Vec<usize>, EvalError> {
        check_count("labels", labels.len(), training)?;
        check_width("training samples", training, training.n_columns())?;
        check_width("samples", samples, training.n_columns())?;
        let (n, d) = (training.n_rows(), training.n_columns());
        let training = Directions::of(training);
        let training = DMatrix::from_row_slice(n, d, training.values());
        let samples = Directions::of(samples);
        let chunks = samples.values().par_chunks(CHUNK * d);
        let classes = chunks.map(|chunk| {
            work.watch.check()?;
            // Samples are the columns.
            let samples = DMatrix::from_column_slice(d, chunk.len() / d, chunk);
            let similarities = &training * samples;
            let columns = 0..similarities.ncols();
            let classes: Vec<usize> = columns
                .map(|sample| self.elect(similarities.column(sample).as_slice(), labels))
                .collect();
            work.advance_by(classes.len());
            Ok(classes)
        });
        let classes: Vec<Result<Vec<usize>, EvalError>> = classes.collect();
        let classes: Vec<Vec<usize>> = classes.into_iter().collect::<Result<_, _>>()?;
        Ok(classes.concat())
    }

    /// Measures the accuracy on given test samples by their neighbours among given training samples.
    ///
    /// # Errors
    /// As [`predict`](Self::predict), and if there is not one label for each row of `test`.
    pub fn accuracy(
        &self,
        training: &Matrix,
        training_labels: &[usize],
        test: &Matrix,
        test_labels: &[usize],
    ) -> Result<f64, EvalError> {
        check_count("test labels", test_labels.len(), test)?;
        let predictions = self.predict(training, training_labels, test)?;
        Ok(share_right(&predictions, test_labels))
    }

    /// Returns the class with most votes, given the similarity to each training sample.
    fn elect(&self, similarities: &[f64], labels: &[usize]) -> usize {
        let k = self.config.k.min(labels.len());
        let neighbours = similarities.iter().zip(0..);
        let mut nearest: Vec<_> = neighbours
            .map(|(&similarity, index)| neighbour(similarity, index))
            .collect();
        nearest.select_nth_unstable_by(k - 1, nearest_first);
        nearest.truncate(k);
        nearest.sort_unstable_by(nearest_first);
        // Relative to the nearest, whose vote weighs 1, so that nothing overflows.
        let (greatest, _) = nearest[0];
        // In the order in which the classes first appear, so that the first of several has the
        // nearest neighbour.
        let mut tally: Vec<(usize, f64)> = Vec::new();
        for (similarity, index) in nearest {
            let vote = match self.config.votes {
                KnnVotes::Exponential { temperature } => {
                    ((similarity - greatest) / temperature).exp()
                }
                KnnVotes::Uniform => 1.0,
            };
            match tally.iter_mut().find(|(class, _)| *class == labels[index]) {
                Some((_, votes)) => *votes += vote,
                None => tally.push((labels[index], vote)),
            }
        }
        let mut elected = tally[0];
        for &candidate in &tally[1..] {
            if candidate.1 > elected.1 {
                elected = candidate;
            }
        }
        elected.0
    }
}

impl CrossValidated for KnnProtocol {
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
        if n_folds_for(labels, self.config.n_folds).is_none() {
            return Ok(None);
        }
        // Every sample is tested once.
        let work = Work::new(watch, labels.len());
        let accuracy = measure_folds(folds, |training, test| {
            let predictions = self.predict_with(
                &embeddings.select(training),
                &labels_of(labels, training),
                &embeddings.select(test),
                &work,
            )?;
            Ok((share_right(&predictions, &labels_of(labels, test)), None))
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

    fn uniform(k: usize) -> KnnProtocol {
        let config = KnnProtocolConfig::default().with_k(k);
        config.with_votes(KnnVotes::Uniform).init()
    }

    #[test]
    fn lengths_of_rows_do_not_count() {
        let x = random(90, 4);
        let labels: Vec<usize> = (0..90).map(|i| i * i % 7 % 3).collect();
        // By powers of two, which is exact.
        let rows = x.rows().enumerate();
        let scaled =
            rows.flat_map(|(i, row)| row.iter().map(move |x| x * 2f64.powi(i as i32 % 40 - 20)));
        let scaled = Matrix::try_new(scaled.collect(), 4).unwrap();
        let protocol = KnnProtocolConfig::default().init();
        let found = protocol.evaluate(&x, &labels, Seed::new(1));
        assert_eq!(protocol.evaluate(&scaled, &labels, Seed::new(1)), found);
    }

    #[test]
    fn the_order_of_rows_does_not_count() {
        let x = random(150, 5);
        let labels: Vec<usize> = (0..150).map(|i| i * i % 7 % 3).collect();
        let folds: Vec<usize> = (0..150).map(|i| i % 4).collect();
        let order: Vec<usize> = (0..150).map(|i| i * 77 % 150).collect();
        let moved = |values: &[usize]| labels_of(values, &order);
        let protocol = KnnProtocolConfig::default().init();
        assert_eq!(
            protocol.evaluate_on_folds(&x.select(&order), &moved(&labels), &moved(&folds)),
            protocol.evaluate_on_folds(&x, &labels, &folds)
        );
    }

    #[test]
    fn labels_that_say_nothing_give_chance() {
        let mut rng = Seed::new(4).rng();
        let labels: Vec<usize> = (0..600).map(|_| rng.random_range(0..3)).collect();
        let protocol = KnnProtocolConfig::default().init();
        let found = protocol.evaluate(&random(600, 6), &labels, Seed::new(0));
        // A third, with a standard error of 0.02.
        assert!((found.unwrap().unwrap().mean - 1.0 / 3.0).abs() < 0.06);
    }

    #[test]
    fn a_tie_goes_to_the_nearest() {
        // Seen from 0°: 9 at 10°, 2 at 20° and 30°, 9 at 40°.
        let at = |degrees: &[f64]| {
            let points = degrees.iter().map(|degrees| degrees.to_radians());
            let points = points.flat_map(|angle| [angle.cos(), angle.sin()]);
            Matrix::try_new(points.collect(), 2).unwrap()
        };
        let training = at(&[20.0, 30.0, 10.0, 40.0]);
        let labels = [2, 2, 9, 9];
        let answers = [1, 2, 3, 4, 99].map(|k| {
            let answer = uniform(k).predict(&training, &labels, &at(&[0.0]));
            answer.unwrap()
        });
        assert_eq!(answers.concat(), [9, 9, 2, 9, 9]);
        // Of equally similar samples the first is the nearest.
        assert_eq!(
            uniform(1).predict(&at(&[5.0, 5.0]), &[4, 3], &at(&[0.0])),
            Ok(vec![4])
        );
        // A row of zeros is as far from everything.
        let zero = Matrix::try_new(vec![0.0; 2], 2).unwrap();
        assert_eq!(uniform(1).predict(&training, &labels, &zero), Ok(vec![2]));
    }

    #[test]
    fn a_low_temperature_asks_the_nearest_alone() {
        let (x, test) = (random(70, 3), random(90, 3).select(&[80, 85, 89]));
        let labels: Vec<usize> = (0..70).map(|i| i % 5).collect();
        let votes = KnnVotes::Exponential { temperature: 1e-9 };
        let cold = KnnProtocolConfig::default().with_votes(votes).init();
        assert_eq!(
            cold.predict(&x, &labels, &test),
            uniform(1).predict(&x, &labels, &test)
        );
        let votes = KnnVotes::Exponential { temperature: 1e300 };
        let hot = KnnProtocolConfig::default().with_votes(votes).init();
        assert_eq!(
            hot.predict(&x, &labels, &test),
            uniform(20).predict(&x, &labels, &test)
        );
    }

    #[test]
    fn a_single_class_has_no_accuracy() {
        let protocol = KnnProtocolConfig::default().init();
        assert_eq!(
            protocol.evaluate(&random(9, 2), &[3; 9], Seed::new(0)),
            Ok(None)
        );
    }

    #[test]
    fn settings_are_checked() {
        let config = KnnProtocolConfig::default;
        let message = |config: KnnProtocolConfig| config.try_init().unwrap_err().to_string();
        let found = message(config().with_k(0));
        assert_eq!(found, "neighbours (k): found 0, expected at least 1");
        let found = message(config().with_n_folds(1));
        assert_eq!(found, "folds: found 1, expected at least 2");
        for temperature in [0.0, -1.0, f64::INFINITY] {
            let votes = KnnVotes::Exponential { temperature };
            let expected =
                format!("temperature (T): found {temperature}, expected a finite number above 0");
            assert_eq!(message(config().with_votes(votes)), expected);
        }
    }
}
