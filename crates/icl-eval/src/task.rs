//! A classification task from a few labels, on held-out samples.

use std::collections::BTreeMap;

use icl_core::Seed;
use rand::seq::SliceRandom;

use crate::{EvalError, KnnProtocolConfig, KnnVotes, LinearClassifier, Matrix};

/// Inverse strength of the penalty of the linear classifier, scikit-learn's default.
const C: f64 = 1.0;

/// Task that compares features of the same samples: a few labelled samples of each class, from which the classes of
/// held-out samples are predicted.
///
/// ```
/// use icl_core::Seed;
/// use icl_eval::{Matrix, Task};
///
/// // Ten samples on two arms; of each, the last two are held out.
/// let labels = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1].map(Some);
/// let task = Task::draw(&labels, &[0, 1, 2, 5, 6, 7], &[3, 4, 8, 9], 2, Seed::new(0)).unwrap();
/// let row = |at: &usize| if *at < 5 { [1.0 + *at as f64, 0.0] } else { [0.0, *at as f64] };
/// let features: Vec<f64> = task.samples().iter().flat_map(row).collect();
/// let errors = task.errors(&Matrix::try_new(features, 2)?)?;
/// assert_eq!((errors.nearest, errors.linear), (vec![0.0; 4], vec![0.0; 4]));
/// # Ok::<(), icl_eval::EvalError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    labelled: Vec<usize>,
    held_out: Vec<usize>,
    /// Classes of the labelled samples, then of the held-out ones.
    classes: Vec<usize>,
}

/// Errors of the predictions for each held-out sample: 1 where the class is wrong, 0 where it is right.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskErrors {
    /// By the labelled sample with the largest cosine.
    pub nearest: Vec<f64>,
    /// By multinomial logistic regression on the labelled samples ([`LinearClassifier`] with C = 1).
    pub linear: Vec<f64>,
}

impl Task {
    /// Draws `n_labels` samples of each class, or all of a smaller class, from the `candidates`; `labels` holds the
    /// class of every sample. Samples without one belong to neither part. Returns `None` if the candidates have a
    /// single class, or fewer than two held-out samples have one.
    ///
    /// # Panics
    /// If an index of a sample is not below the number of labels.
    pub fn draw(
        labels: &[Option<usize>],
        candidates: &[usize],
        held_out: &[usize],
        n_labels: usize,
        seed: Seed,
    ) -> Option<Self> {
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &at in candidates {
            if let Some(class) = labels[at] {
                members.entry(class).or_default().push(at);
            }
        }
        let held_out = held_out.iter().copied();
        let held_out: Vec<usize> = held_out.filter(|&at| labels[at].is_some()).collect();
        if members.len() < 2 || held_out.len() < 2 {
            return None;
        }
        let mut labelled = Vec::new();
        for (class, mut of_class) in members {
            of_class.shuffle(&mut seed.child("class").at(class as u64).rng());
            labelled.extend(of_class.into_iter().take(n_labels));
        }
        let samples = labelled.iter().chain(&held_out);
        Some(Self {
            classes: samples.filter_map(|&at| labels[at]).collect(),
            held_out,
            labelled,
        })
    }

    /// Returns the labelled samples, then the held-out ones: those of the rows of features.
    pub fn samples(&self) -> Vec<usize> {
        [&self.labelled[..], &self.held_out].concat()
    }

    /// Returns the number of labelled samples.
    pub fn n_labelled(&self) -> usize {
        self.labelled.len()
    }

    /// Returns the number of held-out samples.
    pub fn n_held_out(&self) -> usize {
        self.held_out.len()
    }

    /// Returns the errors of predictions from features, a row for each of [`samples`](Self::samples).
    ///
    /// # Errors
    /// [`EvalError`] if there is not a row for each sample, or the linear classifier does not converge.
    pub fn errors(&self, features: &Matrix) -> Result<TaskErrors, EvalError> {
        let (n, n_rows) = (self.classes.len(), features.n_rows());
        EvalError::unless(n_rows == n, "features", n_rows, format!("{n} rows"))?;
        let n_labelled = self.labelled.len();
        let labelled = features.select(&(0..n_labelled).collect::<Vec<_>>());
        let held_out = features.select(&(n_labelled..n).collect::<Vec<_>>());
        let (given, expected) = self.classes.split_at(n_labelled);
        let nearest = KnnProtocolConfig::default()
            .with_k(1)
            .with_votes(KnnVotes::Uniform)
            .try_init()?;
        let errors = |predicted: Vec<usize>| {
            let pairs = predicted.iter().zip(expected);
            pairs
                .map(|(found, expected)| f64::from(u8::from(found != expected)))
                .collect()
        };
        Ok(TaskErrors {
            nearest: errors(nearest.predict(&labelled, given, &held_out)?),
            linear: errors(LinearClassifier::fit(&labelled, given, C)?.predict(&held_out)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    /// Three clusters, of which the third overlaps the second.
    fn clusters() -> (Vec<[f64; 2]>, Vec<usize>) {
        let mut rng = Seed::new(3).rng();
        let labels: Vec<usize> = (0..90).map(|at| at % 3).collect();
        let centres = [[4.0, 0.0], [0.0, 4.0], [1.0, 4.0]];
        let points = labels
            .iter()
            .map(|&class| centres[class].map(|x| x + 2.0 * rng.random::<f64>() - 1.0));
        (points.collect(), labels)
    }

    #[test]
    fn nearest_is_a_double_loop() {
        let (points, labels) = clusters();
        let (candidates, held_out): (Vec<usize>, Vec<usize>) = (0..90).partition(|at| at % 2 == 0);
        let classes: Vec<Option<usize>> = labels.iter().copied().map(Some).collect();
        let task = Task::draw(&classes, &candidates, &held_out, 5, Seed::new(1)).unwrap();
        assert_eq!(task.n_labelled(), 15);
        let samples = task.samples();
        assert!(samples[..15].iter().all(|at| candidates.contains(at)));
        for class in 0..3 {
            let n = samples[..15].iter().filter(|at| labels[**at] == class);
            assert_eq!(n.count(), 5);
        }
        assert_eq!(samples[15..], held_out);
        let values = samples.iter().flat_map(|&at| points[at]).collect();
        let errors = task.errors(&Matrix::try_new(values, 2).unwrap()).unwrap();
        let cosine = |a: [f64; 2], b: [f64; 2]| {
            (a[0] * b[0] + a[1] * b[1]) / (a[0].hypot(a[1]) * b[0].hypot(b[1]))
        };
        for (&at, &error) in held_out.iter().zip(&errors.nearest) {
            let (mut best, mut class) = (f64::NEG_INFINITY, 0);
            for &other in &samples[..15] {
                let found = cosine(points[at], points[other]);
                if found > best {
                    (best, class) = (found, labels[other]);
                }
            }
            assert_eq!(error, f64::from(u8::from(class != labels[at])), "{at}");
        }
        let n_wrong: f64 = errors.linear.iter().sum();
        assert!(n_wrong > 0.0 && n_wrong < 20.0, "{n_wrong}");
    }

    #[test]
    fn without_two_classes_or_two_samples_there_is_none() {
        let draw = |labels: &[usize], held_out: &[usize]| {
            // The class 9 is none.
            let label = |&class: &usize| (class != 9).then_some(class);
            let labels: Vec<Option<usize>> = labels.iter().map(label).collect();
            Task::draw(&labels, &[0, 1], held_out, 5, Seed::new(0))
        };
        assert_eq!(draw(&[1, 1, 0, 0], &[2, 3]), None);
        assert_eq!(draw(&[1, 0, 0, 0], &[2]), None);
        assert_eq!(draw(&[1, 9, 0, 0], &[2, 3]), None);
        assert_eq!(draw(&[1, 0, 0, 9], &[2, 3]), None);
        let some = draw(&[1, 0, 9, 0, 0], &[2, 3, 4]).unwrap();
        assert_eq!((some.samples(), some.n_held_out()), (vec![1, 0, 3, 4], 2));
        let task = draw(&[1, 0, 0, 0], &[2, 3]).unwrap();
        let few = Matrix::try_new(vec![0.0; 3], 1).unwrap();
        assert!(task.errors(&few).is_err());
    }
}
