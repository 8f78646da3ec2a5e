//! Stratified folds: every fold has nearly the same share of each class.
//!
//! The allocation is that of scikit-learn's `StratifiedKFold`, so that both programs cross-validate
//! on the same folds. Samples sorted by class (classes in order of first appearance) are dealt to
//! the folds in turn, which determines the number of samples of each class in a fold.

use icl_core::Seed;
use rand::seq::SliceRandom;

use crate::EvalError;

/// Assigns each sample to the fold in which it is tested, without shuffling: the first samples of each
/// class go to fold 0, the next to fold 1, and so on.
///
/// The result equals that of scikit-learn's `StratifiedKFold(n_folds)`. A class with fewer members than
/// folds is missing in some folds.
///
/// ```
/// let folds = icl_eval::stratified_folds(&[7, 7, 7, 7, 3, 3], 2);
/// assert_eq!(folds, [0, 0, 1, 1, 0, 1]);
/// ```
///
/// # Panics
/// If `n_folds` is 0.
pub fn stratified_folds(labels: &[usize], n_folds: usize) -> Vec<usize> {
    allocate(labels, n_folds, |_| {})
}

/// Assigns each sample to a fold as [`stratified_folds`] does, with the samples of each class shuffled.
/// The result depends on labels, number of folds and seed alone.
///
/// # Panics
/// If `n_folds` is 0.
pub fn shuffled_stratified_folds(labels: &[usize], n_folds: usize, seed: Seed) -> Vec<usize> {
    let mut rng = seed.rng();
    allocate(labels, n_folds, |places| places.shuffle(&mut rng))
}

/// Returns the number of folds if it is at least two.
///
/// # Errors
/// [`EvalError`] if it is below two.
pub(crate) fn checked_n_folds(n_folds: usize) -> Result<usize, EvalError> {
    EvalError::unless(n_folds >= 2, "folds", n_folds, "at least 2")?;
    Ok(n_folds)
}

/// Returns the number of folds that the smallest class allows, at least 2 and at most `n_folds`; `None`
/// if there are fewer than two classes.
pub fn n_folds_for(labels: &[usize], n_folds: usize) -> Option<usize> {
    let mut sorted = labels.to_vec();
    sorted.sort_unstable();
    let sizes: Vec<usize> = sorted.chunk_by(|a, b| a == b).map(<[_]>::len).collect();
    match sizes.iter().min() {
        Some(&smallest) if sizes.len() > 1 => Some(smallest.clamp(2, n_folds)),
        _ => None,
    }
}

/// Checks that there are at least two folds and that each contains a sample.
///
/// # Errors
/// [`EvalError`] if the number of folds is not the number of labels, there are fewer than two folds, or one of them
/// holds no sample.
pub fn check_folds(labels: &[usize], folds: &[usize]) -> Result<(), EvalError> {
    let (n, n_labels) = (folds.len(), labels.len());
    let expected = format_args!("{n_labels}, one for each row");
    EvalError::unless(n == n_labels, "folds", n, expected)?;
    let n_folds = checked_n_folds(folds.iter().max().map_or(0, |highest| highest + 1))?;
    match (0..n_folds).find(|fold| !folds.contains(fold)) {
        Some(fold) => Err(EvalError::message(format_args!(
            "folds: no sample is in fold {fold} of {n_folds}, expected at least one"
        ))),
        None => Ok(()),
    }
}

/// Assigns the samples to folds. `order` may rearrange the folds of the members of a class.
fn allocate(labels: &[usize], n_folds: usize, mut order: impl FnMut(&mut [usize])) -> Vec<usize> {
    assert!(n_folds > 0, "expected at least one fold, found none");
    let mut classes: Vec<usize> = Vec::new();
    for label in labels {
        if !classes.contains(label) {
            classes.push(*label);
        }
    }
    let mut folds = vec![0; labels.len()];
    let mut n_before = 0;
    for class in classes {
        let members: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] == class).collect();
        // Place p of the sorted samples belongs to fold p mod n_folds.
        let mut places: Vec<usize> = (n_before..n_before + members.len())
            .map(|place| place % n_folds)
            .collect();
        places.sort_unstable();
        order(&mut places);
        for (member, fold) in members.iter().zip(places) {
            folds[*member] = fold;
        }
        n_before += members.len();
    }
    folds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffled_folds_hold_as_many_of_each_class_as_unshuffled_ones() {
        let labels: Vec<usize> = (0..97).map(|i| i * i % 5 % 3).collect();
        let count = |folds: &[usize]| {
            let mut counts = [[0; 3]; 5];
            for (&fold, &label) in folds.iter().zip(&labels) {
                counts[fold][label] += 1;
            }
            counts
        };
        let plain = stratified_folds(&labels, 5);
        let shuffled = shuffled_stratified_folds(&labels, 5, Seed::new(3));
        assert_eq!(count(&plain), count(&shuffled));
        assert_ne!(plain, shuffled);
        assert_ne!(
            shuffled,
            shuffled_stratified_folds(&labels, 5, Seed::new(4))
        );
    }

    #[test]
    fn shuffling_is_fixed_for_all_time() {
        // A change of generator or shuffle changes every recorded accuracy: it must be noticed.
        let folds = shuffled_stratified_folds(&[0, 1, 0, 1, 0, 1, 0, 1, 0, 1], 5, Seed::new(1));
        assert_eq!(folds, FOLDS);
    }
    const FOLDS: [usize; 10] = [3, 3, 4, 1, 0, 2, 1, 4, 2, 0];
}
