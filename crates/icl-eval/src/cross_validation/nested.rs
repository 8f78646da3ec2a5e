//! Nested cross-validation: outer folds measure the accuracy, inner folds choose a
//! hyper-parameter.

use rayon::prelude::*;

use super::accuracy::{Accuracy, mean};
use super::folds::stratified_folds;
use crate::EvalError;
use crate::matrix::labels_of;
use crate::watch::Work;

/// Labelled samples on which classifiers with one hyper-parameter, such as a penalty C, can be fitted and
/// tested.
pub trait Tunable: Sync {
    /// Returns the class of each sample.
    fn labels(&self) -> &[usize];

    /// Returns the accuracy on `test` of classifiers fitted to `training`, for each value of `grid`, and counts a
    /// unit of the work for each.
    ///
    /// # Errors
    /// [`EvalErrorKind::Interrupted`](crate::EvalErrorKind::Interrupted) if the watch of the work says so; those of
    /// the fits.
    fn accuracies(
        &self,
        training: &[usize],
        test: &[usize],
        grid: &[f64],
        work: &Work<'_>,
    ) -> Result<Vec<f64>, EvalError>;
}

/// Returns the grid if it is valid.
///
/// # Errors
/// [`EvalError`] if it is empty, not ascending, or holds a value that is not a finite number
/// above 0.
pub(crate) fn checked_grid(grid: Vec<f64>) -> Result<Vec<f64>, EvalError> {
    let positive = grid.iter().all(|c| c.is_finite() && *c > 0.0);
    let ascending = grid.windows(2).all(|pair| pair[0] < pair[1]);
    let is_valid = !grid.is_empty() && positive && ascending;
    let found = format!("{grid:?}");
    EvalError::unless(
        is_valid,
        "grid for C",
        found,
        "finite numbers above 0, ascending",
    )?;
    Ok(grid)
}

/// Returns the number of units of work of a cross-validation that chooses a value of `grid` for each of `n_folds`
/// outer folds by `n_inner` inner ones: the fits.
pub fn n_fits(n_folds: usize, n_inner: usize, grid: &[f64]) -> usize {
    let to_choose = if grid.len() == 1 {
        0
    } else {
        n_inner * grid.len()
    };
    n_folds * (to_choose + 1)
}

/// Returns the number of given folds.
pub fn count_folds(folds: &[usize]) -> usize {
    folds.iter().max().map_or(0, |highest| highest + 1)
}

/// Chooses the value of `grid` with the best mean accuracy over `n_folds` unshuffled folds of these samples,
/// the smallest of several.
///
/// # Errors
/// Those of the fits.
pub fn choose(
    classifiers: &impl Tunable,
    samples: &[usize],
    grid: &[f64],
    n_folds: usize,
    work: &Work<'_>,
) -> Result<f64, EvalError> {
    let labels = labels_of(classifiers.labels(), samples);
    // A single class is predicted with every value, and a single sample leaves none to test on.
    if grid.len() == 1 || labels.iter().all(|label| *label == labels[0]) {
        return Ok(grid[0]);
    }
    // Given outer folds may leave fewer samples than there are inner folds.
    let n_folds = n_folds.min(samples.len());
    let folds = stratified_folds(&labels, n_folds);
    let of_folds = in_parallel(n_folds, |fold| {
        let (training, test) = split(samples, &folds, fold);
        classifiers.accuracies(&training, &test, grid, work)
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

/// Measures the accuracy over given outer folds, none of them empty. `test` receives the samples outside
/// each fold and those in it, and returns the accuracy and, if C is chosen, the C.
///
/// # Errors
/// Those of `test`.
pub fn measure_folds(
    folds: &[usize],
    test: impl Fn(&[usize], &[usize]) -> Result<(f64, Option<f64>), EvalError> + Sync,
) -> Result<Accuracy, EvalError> {
    let (per_fold, chosen_c): (Vec<f64>, Vec<Option<f64>>) =
        over_folds(folds, test)?.into_iter().unzip();
    Ok(Accuracy::of_folds(
        per_fold,
        chosen_c.into_iter().flatten().collect(),
    ))
}

/// Calls `test` with the samples outside each of the given folds and those in it, and returns the results
/// in the order of the folds.
///
/// # Errors
/// Those of `test`.
pub fn over_folds<T: Send>(
    folds: &[usize],
    test: impl Fn(&[usize], &[usize]) -> Result<T, EvalError> + Sync,
) -> Result<Vec<T>, EvalError> {
    let n_folds = count_folds(folds);
    let everything: Vec<usize> = (0..folds.len()).collect();
    in_parallel(n_folds, |fold| {
        let (training, tested) = split(&everything, folds, fold);
        test(&training, &tested)
    })
}

/// Applies `measure` to each fold and returns the results in the order of the folds. Folds are
/// independent, so neither results nor errors depend on the number of threads.
fn in_parallel<T: Send>(
    n_folds: usize,
    measure: impl Fn(usize) -> Result<T, EvalError> + Sync,
) -> Result<Vec<T>, EvalError> {
    let of_folds: Vec<_> = (0..n_folds).into_par_iter().map(&measure).collect();
    of_folds.into_iter().collect()
}

/// Splits the samples into those outside a fold and those in it; `folds[i]` is the fold of `samples[i]`.
fn split(samples: &[usize], folds: &[usize], fold: usize) -> (Vec<usize>, Vec<usize>) {
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
