//! Stratified folds: every fold has nearly the same share of each class.
//!
//! The allocation is that of scikit-learn's `StratifiedKFold`, so that both programs cross-validate
//! on the same folds. Samples sorted by class (classes in order of first appearance) are dealt to
//! the folds in turn, which fixes how many of each class a fold gets.

use icl_core::Seed;
use rand::seq::SliceRandom;

/// The fold in which each sample is tested, without shuffling: of each class the first samples go
/// to fold 0, the next to fold 1, and so on. Equal to scikit-learn's `StratifiedKFold(n_folds)`.
///
/// A class with fewer members than folds is missing in some folds.
///
/// # Panics
/// If `n_folds` is 0.
pub fn stratified_folds(labels: &[usize], n_folds: usize) -> Vec<usize> {
    allocate(labels, n_folds, |_| {})
}

/// As [`stratified_folds`], with each class shuffled over its places: a pure function of labels,
/// number of folds and seed.
///
/// # Panics
/// If `n_folds` is 0.
pub fn shuffled_stratified_folds(labels: &[usize], n_folds: usize, seed: Seed) -> Vec<usize> {
    let mut rng = seed.rng();
    allocate(labels, n_folds, |places| places.shuffle(&mut rng))
}

/// Deals the samples to folds; `order` may rearrange the places that a class has got.
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
