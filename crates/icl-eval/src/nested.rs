//! Nested cross-validation: outer folds measure, inner folds choose C.

use rayon::prelude::*;

use crate::accuracy::mean;
use crate::folds::stratified_folds;
use crate::parts::labels_of;
use crate::{Accuracy, EvalError};

/// Samples on which classifiers with a penalty C are fitted and tested.
pub(crate) trait Penalised: Sync {
    /// The class of each sample.
    fn labels(&self) -> &[usize];

    /// The accuracy on `test` of classifiers fitted to `training`, one for each C of `grid`.
    fn accuracies(
        &self,
        training: &[usize],
        test: &[usize],
        grid: &[f64],
    ) -> Result<Vec<f64>, EvalError>;
}

/// The grid itself.
///
/// # Errors
/// [`EvalError::Grid`] if it is empty, not ascending, or holds a value that is not a finite number
/// above 0.
pub(crate) fn checked_grid(grid: Vec<f64>) -> Result<Vec<f64>, EvalError> {
    let positive = grid.iter().all(|c| c.is_finite() && *c > 0.0);
    let ascending = grid.windows(2).all(|pair| pair[0] < pair[1]);
    if grid.is_empty() || !positive || !ascending {
        return Err(EvalError::Grid { found: grid });
    }
    Ok(grid)
}

/// The C of `grid` with the best mean accuracy over `n_folds` unshuffled folds of these samples, of
/// several the smallest.
pub(crate) fn choose_c(
    classifiers: &impl Penalised,
    samples: &[usize],
    grid: &[f64],
    n_folds: usize,
) -> Result<f64, EvalError> {
    let labels = labels_of(classifiers.labels(), samples);
    // A single class is answered alike with every C, and a lone sample leaves none to test on.
    if grid.len() == 1 || labels.iter().all(|label| *label == labels[0]) {
        return Ok(grid[0]);
    }
    // Given outer folds may leave fewer samples than there are inner folds.
    let n_folds = n_folds.min(samples.len());
    let folds = stratified_folds(&labels, n_folds);
    let of_folds = in_parallel(n_folds, |fold| {
        let (training, test) = part(samples, &folds, fold);
        classifiers.accuracies(&training, &test, grid)
    })?;
    let score = |candidate: usize| {
        let scores: Vec<f64> = of_folds.iter().map(|of_fold| of_fold[candidate]).collect();
        mean(&scores)
    };
    let (mut best, mut best_score) = (0, score(0));
    for candidate in 1..grid.len() {
        let score = score(candidate);
        if score > best_score {
            (best, best_score) = (candidate, score);
        }
    }
    Ok(grid[best])
}

/// The accuracy over given outer folds, none of them empty; `test` gets the samples outside each fold
/// and those in it, and answers the accuracy and, where there is a choice, the C chosen.
pub(crate) fn measure_folds(
    folds: &[usize],
    test: impl Fn(&[usize], &[usize]) -> Result<(f64, Option<f64>), EvalError> + Sync,
) -> Result<Accuracy, EvalError> {
    let n_folds = folds.iter().max().map_or(0, |highest| highest + 1);
    let everything: Vec<usize> = (0..folds.len()).collect();
    let of_folds = in_parallel(n_folds, |fold| {
        let (training, tested) = part(&everything, folds, fold);
        test(&training, &tested)
    })?;
    let (per_fold, chosen_c): (Vec<f64>, Vec<Option<f64>>) = of_folds.into_iter().unzip();
    Ok(Accuracy::of_folds(
        per_fold,
        chosen_c.into_iter().flatten().collect(),
    ))
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
