//! Nested cross-validation: outer folds measure, inner folds choose C.

use rayon::prelude::*;

use crate::folds::stratified_folds;
use crate::parts::labels_of;
use crate::svm::{RbfKernel, SquaredDistances, TrainingSet, scale_gamma};
use crate::{Accuracy, EvalError, Matrix};

/// What all fits of one evaluation share.
pub(crate) struct NestedValidation<'a> {
    embeddings: &'a Matrix,
    labels: &'a [usize],
    grid: &'a [f64],
    distances: SquaredDistances,
}

impl<'a> NestedValidation<'a> {
    /// Computes the distances of all pairs of rows.
    pub(crate) fn new(embeddings: &'a Matrix, labels: &'a [usize], grid: &'a [f64]) -> Self {
        Self {
            embeddings,
            labels,
            grid,
            distances: SquaredDistances::within(embeddings),
        }
    }

    /// Measures on given outer folds, none of them empty, choosing C by `n_inner` inner ones.
    pub(crate) fn run(&self, folds: &[usize], n_inner: usize) -> Result<Accuracy, EvalError> {
        let n_folds = folds.iter().max().map_or(0, |highest| highest + 1);
        let everything: Vec<usize> = (0..folds.len()).collect();
        let of_folds = in_parallel(n_folds, |fold| {
            let (training, test) = part(&everything, folds, fold);
            let c = self.choose_c(&training, n_inner)?;
            Ok((self.accuracies(&training, &test, &[c])?[0], c))
        })?;
        let (per_fold, chosen_c): (Vec<f64>, Vec<f64>) = of_folds.into_iter().unzip();
        let center = mean(&per_fold);
        let squares: Vec<f64> = per_fold.iter().map(|a| (a - center).powi(2)).collect();
        Ok(Accuracy {
            mean: center,
            std: mean(&squares).sqrt(),
            per_fold,
            chosen_c,
            n_folds,
        })
    }

    /// The C with the best mean accuracy over inner folds of these samples, of several the smallest.
    fn choose_c(&self, samples: &[usize], n_folds: usize) -> Result<f64, EvalError> {
        let labels = labels_of(self.labels, samples);
        // A single class is answered alike with every C, and a lone sample leaves none to test on.
        if labels.iter().all(|label| *label == labels[0]) {
            return Ok(self.grid[0]);
        }
        // Given outer folds may leave fewer samples than there are inner folds.
        let n_folds = n_folds.min(samples.len());
        let folds = stratified_folds(&labels, n_folds);
        let of_folds = in_parallel(n_folds, |fold| {
            let (training, test) = part(samples, &folds, fold);
            self.accuracies(&training, &test, self.grid)
        })?;
        let score = |candidate: usize| {
            let scores: Vec<f64> = of_folds.iter().map(|of_fold| of_fold[candidate]).collect();
            mean(&scores)
        };
        let (mut best, mut best_score) = (0, score(0));
        for candidate in 1..self.grid.len() {
            let score = score(candidate);
            if score > best_score {
                (best, best_score) = (candidate, score);
            }
        }
        Ok(self.grid[best])
    }

    /// The accuracy on `test` of machines fitted to `training`, one for each C of `grid`.
    fn accuracies(
        &self,
        training: &[usize],
        test: &[usize],
        grid: &[f64],
    ) -> Result<Vec<f64>, EvalError> {
        let kernel = RbfKernel {
            distances: &self.distances,
            gamma: scale_gamma(self.embeddings, training),
        };
        let set = TrainingSet::new(kernel, training, &labels_of(self.labels, training));
        let machines = grid
            .iter()
            .map(|&c| set.solve(c))
            .collect::<Result<Vec<_>, _>>()?;
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

/// `measure` of each fold, in the order of the folds. Folds know nothing of each other, so neither
/// results nor errors depend on the number of threads.
fn in_parallel<T: Send>(
    n_folds: usize,
    measure: impl Fn(usize) -> Result<T, EvalError> + Sync,
) -> Result<Vec<T>, EvalError> {
    let of_folds: Vec<_> = (0..n_folds).into_par_iter().map(&measure).collect();
    of_folds.into_iter().collect()
}

/// The samples outside a fold and those in it; `folds[i]` belongs to `samples[i]`.
fn part(samples: &[usize], folds: &[usize], fold: usize) -> (Vec<usize>, Vec<usize>) {
    let (mut training, mut test) = (Vec::new(), Vec::new());
    for (&sample, &its_fold) in samples.iter().zip(folds) {
        if its_fold == fold {
            test.push(sample);
        } else {
            training.push(sample);
        }
    }
    (training, test)
}

/// The mean as NumPy takes it of few numbers: their sum from left to right, divided. Equal
/// accuracies of several C are ties only if both programs round alike.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
