//! The paper's protocol: nested cross-validation of a support vector machine on frozen embeddings.

use super::kernel::{RbfKernel, SquaredDistances, scale_gamma};
use super::one_vs_one::OneVsOne;
use crate::cross_validation::{
    Tunable, check_folds, checked_grid, checked_n_folds, choose, count_folds, measure_folds,
    n_fits, n_folds_for,
};
use crate::matrix::{assert_labelled, labels_of};
use crate::watch::Work;
use crate::{Accuracy, CrossValidated, EvalError, Matrix, Watch};

/// Settings of [`SvmProtocol`]. The defaults are those of the paper.
#[derive(Debug, Clone, PartialEq)]
pub struct SvmProtocolConfig {
    grid: Vec<f64>,
    n_folds: usize,
}

impl Default for SvmProtocolConfig {
    /// Returns the settings C ∈ {10⁻³, 10⁻², …, 10³}, 5 folds.
    fn default() -> Self {
        Self {
            grid: vec![1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3],
            n_folds: 5,
        }
    }
}

impl SvmProtocolConfig {
    /// Sets the values of the penalty C to choose from, ascending. If there is a single value, nothing is
    /// chosen and there are no inner folds.
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
    /// - [`EvalError::Grid`] if the grid is empty, not ascending, or holds a value that is not a
    ///   finite number above 0;
    /// - [`EvalError::FoldCount`] if there are fewer than two folds.
    pub fn try_init(self) -> Result<SvmProtocol, EvalError> {
        let grid = checked_grid(self.grid)?;
        let n_folds = checked_n_folds(self.n_folds)?;
        Ok(SvmProtocol {
            config: Self { grid, n_folds },
        })
    }
}

/// Protocol of the paper: a support vector machine with RBF kernel on frozen embeddings
/// ([`SvmClassifier`](crate::SvmClassifier)).
///
/// In each of 5 outer folds, C is chosen from a grid by inner 5-fold cross-validation on the training
/// part; the machine is then refitted on the whole training part and tested on the held-out fold. This is
/// what scikit-learn computes by
///
/// ```text
/// cross_val_score(GridSearchCV(SVC(), {"C": grid}, cv=5), X, y, cv=StratifiedKFold(5, shuffle=True))
/// ```
///
/// including the width γ of the kernel, scaled by the training rows of each fit, the unshuffled inner
/// folds, and the choice of the smallest C of several with the best mean accuracy.
///
/// If the smallest class has m < 5 members, there are max(m, 2) folds, outer and inner. A fit that needs
/// more than 10⁷ iterations is an error, [`EvalError::NotConverged`].
///
/// Folds run on rayon's threads; the result does not depend on their number. The kernel of a fold is computed once
/// for all C. With n samples it takes 8n² bytes, up to 8n² more in each thread, and a time between n² and n³.
///
/// ```
/// use icl_core::Seed;
/// use icl_eval::{Matrix, Protocol, SvmProtocolConfig};
///
/// // Twenty samples on a line; the class is the side of the middle.
/// let embeddings = Matrix::try_new((0..20).map(f64::from).collect(), 1)?;
/// let labels: Vec<usize> = (0..20).map(|i| i / 10).collect();
/// let protocol = SvmProtocolConfig::default().try_init()?;
/// let accuracy = protocol.evaluate(&embeddings, &labels, Seed::new(0))?;
/// assert!(accuracy.is_some_and(|accuracy| accuracy.mean >= 0.9));
/// # Ok::<(), icl_eval::EvalError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SvmProtocol {
    config: SvmProtocolConfig,
}

impl CrossValidated for SvmProtocol {
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
        assert_labelled(embeddings, labels);
        check_folds(labels, folds)?;
        let Some(n_inner) = n_folds_for(labels, self.config.n_folds) else {
            return Ok(None);
        };
        let machines = Machines {
            embeddings,
            labels,
            distances: SquaredDistances::within(embeddings),
        };
        let grid = &self.config.grid;
        let work = Work::new(watch, n_fits(count_folds(folds), n_inner, grid));
        let accuracy = measure_folds(folds, |training, test| {
            let c = choose(&machines, training, grid, n_inner, &work)?;
            let accuracy = machines.accuracies(training, test, &[c], &work)?[0];
            Ok((accuracy, Some(c)))
        });
        accuracy.map(Some)
    }
}

/// Data that all fits of one evaluation share.
struct Machines<'a> {
    embeddings: &'a Matrix,
    labels: &'a [usize],
    distances: SquaredDistances,
}

impl Tunable for Machines<'_> {
    fn labels(&self) -> &[usize] {
        self.labels
    }

    fn accuracies(
        &self,
        training: &[usize],
        test: &[usize],
        grid: &[f64],
        work: &Work<'_>,
    ) -> Result<Vec<f64>, EvalError> {
        work.watch.check()?;
        let kernel = RbfKernel {
            distances: &self.distances,
            gamma: scale_gamma(self.embeddings, training),
        };
        let problems = OneVsOne::new(kernel, training, &labels_of(self.labels, training));
        let machines = problems.solve(grid, work)?;
        let mut n_right = vec![0_usize; grid.len()];
        let mut values = Vec::with_capacity(training.len());
        for &sample in test {
            kernel.fill(sample, training, &mut values);
            for (n_right, machine) in n_right.iter_mut().zip(&machines) {
                *n_right += usize::from(machine.predict(&values) == self.labels[sample]);
            }
        }
        let share = |n_right| n_right as f64 / test.len() as f64;
        Ok(n_right.into_iter().map(share).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Protocol;

    use icl_core::{Increment, Seed};

    fn line(n: usize) -> Matrix {
        Matrix::try_new((0..n).map(|i| i as f64).collect(), 1).unwrap()
    }

    fn protocol() -> SvmProtocol {
        SvmProtocolConfig::default().try_init().unwrap()
    }

    #[test]
    fn separated_classes_are_told_apart() {
        let labels: Vec<usize> = (0..40).map(|i| usize::from(i >= 20)).collect();
        let values = (0..40).map(|i| if i < 20 { i } else { 1000 + i });
        let matrix = Matrix::try_new(values.map(f64::from).collect(), 1).unwrap();
        let found = protocol()
            .evaluate(&matrix, &labels, Seed::new(0))
            .unwrap()
            .unwrap();
        assert_eq!((found.mean, found.std, found.n_folds), (1.0, 0.0, 5));
    }

    #[test]
    fn features_that_say_nothing_give_the_majority() {
        let labels: Vec<usize> = (0..50).map(|i| usize::from(i % 5 == 0)).collect();
        let matrix = Matrix::try_new(vec![0.1; 150], 3).unwrap();
        let found = protocol()
            .evaluate(&matrix, &labels, Seed::new(0))
            .unwrap()
            .unwrap();
        assert_eq!(found.per_fold, [0.8; 5]);
        // All C are as good, so the first is chosen.
        assert_eq!(found.chosen_c, [1e-3; 5]);
    }

    #[test]
    fn a_small_class_leaves_fewer_folds() {
        for (n_members, n_folds) in [(1, 2), (2, 2), (3, 3), (5, 5), (6, 5)] {
            let labels: Vec<usize> = (0..30).map(|i| usize::from(i < n_members)).collect();
            let found = protocol()
                .evaluate(&line(30), &labels, Seed::new(0))
                .unwrap()
                .unwrap();
            assert_eq!(found.n_folds, n_folds, "{n_members} members");
            assert_eq!(found.per_fold.len(), n_folds);
        }
    }

    #[test]
    fn the_smallest_data_is_answered() {
        for labels in [vec![0, 1], vec![0, 1, 1], vec![0, 1, 2], vec![1, 0, 1, 0]] {
            let found = protocol()
                .evaluate(&line(labels.len()), &labels, Seed::new(0))
                .unwrap();
            assert!((0.0..=1.0).contains(&found.unwrap().mean), "{labels:?}");
        }
    }

    #[test]
    fn a_single_class_has_no_accuracy() {
        let found = protocol().evaluate(&line(9), &[7; 9], Seed::new(0));
        assert_eq!(found, Ok(None));
        let folds: Vec<usize> = (0..9).map(|i| i % 3).collect();
        assert_eq!(
            protocol().evaluate_on_folds(&line(9), &[7; 9], &folds),
            Ok(None)
        );
    }

    #[test]
    fn lopsided_folds_are_answered() {
        // Fold 0 leaves two samples to choose C from.
        let labels: Vec<usize> = (0..20).map(|i| i % 2).collect();
        let folds: Vec<usize> = (0..20).map(|i| usize::from(i < 2)).collect();
        let found = protocol()
            .evaluate_on_folds(&line(20), &labels, &folds)
            .unwrap()
            .unwrap();
        assert!((0.0..=1.0).contains(&found.mean));
    }

    #[test]
    fn folds_must_be_filled() {
        let labels = [0, 1, 0, 1];
        assert_eq!(
            protocol().evaluate_on_folds(&line(4), &labels, &[0, 0, 2, 2]),
            Err(EvalError::EmptyFold {
                fold: 1,
                n_folds: 3
            })
        );
        assert_eq!(
            protocol().evaluate_on_folds(&line(4), &labels, &[0; 4]),
            Err(EvalError::FoldCount { found: 1 })
        );
    }

    #[test]
    fn settings_are_checked() {
        for grid in [vec![], vec![0.0], vec![1.0, 1.0], vec![f64::INFINITY]] {
            let found = SvmProtocolConfig::default()
                .with_grid(grid.clone())
                .try_init();
            assert_eq!(found, Err(EvalError::Grid { found: grid }));
        }
        let found = SvmProtocolConfig::default().with_n_folds(1).try_init();
        assert_eq!(found, Err(EvalError::FoldCount { found: 1 }));
    }

    #[test]
    #[should_panic(expected = "one label for each row")]
    fn labels_are_complete() {
        let _ = protocol().evaluate(&line(4), &[0, 1, 0], Seed::new(0));
    }

    #[test]
    fn parts_are_evaluated_by_themselves() {
        let labels: Vec<usize> = (0..60).map(|i| usize::from(i * 7 % 13 > 6)).collect();
        let (old, new): (Vec<usize>, Vec<usize>) = (0..60).partition(|i| i % 3 > 0);
        let increment = Increment::try_new(old.clone(), new).unwrap();
        let seed = Seed::new(5);
        let parts = protocol()
            .evaluate_parts(&line(60), &labels, &increment, seed)
            .unwrap();
        let old = protocol().evaluate(&line(60).select(&old), &labels_of(&labels, &old), seed);
        assert_eq!(parts.old, old.unwrap());
        assert_ne!(parts.old, parts.all);
    }
}
