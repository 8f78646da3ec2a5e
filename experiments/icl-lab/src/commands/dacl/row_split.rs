//! Division of rows into training, validation and test rows.

use icl_core::Seed;
use icl_eval::cross_validation::labels_of;
use rand::seq::SliceRandom;

/// Share of the training rows that choose settings.
const VALIDATION: f64 = 0.2;

/// Rows of a table by their use. Each list is ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowSplit {
    /// Training rows, those for validation included.
    pub training: Vec<usize>,
    /// Training rows to which candidates are fitted.
    pub fitting: Vec<usize>,
    /// Training rows by which candidates are chosen.
    pub validation: Vec<usize>,
    /// Test rows, which choose nothing.
    pub test: Vec<usize>,
}

impl RowSplit {
    /// Divides all rows, of which a share is for the test.
    pub fn of_all(labels: &[usize], test: f64, seed: Seed) -> Self {
        let n_test = (test * labels.len() as f64).round() as usize;
        let (test, training) = drawn(labels, n_test, seed.child("test"));
        Self::new(training, test, labels, seed)
    }

    /// Divides these training rows into rows for fitting and for validation.
    pub fn new(training: Vec<usize>, test: Vec<usize>, labels: &[usize], seed: Seed) -> Self {
        let of_training = labels_of(labels, &training);
        let n_validation = (VALIDATION * training.len() as f64).round() as usize;
        let (validation, fitting) = drawn(&of_training, n_validation, seed.child("validation"));
        let rows = |places: Vec<usize>| places.into_iter().map(|place| training[place]).collect();
        Self {
            fitting: rows(fitting),
            validation: rows(validation),
            training,
            test,
        }
    }
}

/// Draws `n` samples with nearly the same share of each class; the drawn ones and the others, each
/// ascending.
pub fn drawn(labels: &[usize], n: usize, seed: Seed) -> (Vec<usize>, Vec<usize>) {
    let total = labels.len();
    let mut order: Vec<usize> = (0..total).collect();
    order.shuffle(&mut seed.rng());
    // The sort is stable, so that the samples of a class stay shuffled.
    order.sort_by_key(|&index| labels[index]);
    // n places at equal distances among the samples, which are sorted by class.
    let is_drawn = |place: usize| (place + 1) * n / total > place * n / total;
    let (mut drawn, mut others) = (Vec::new(), Vec::new());
    for (place, &index) in order.iter().enumerate() {
        match is_drawn(place) {
            true => drawn.push(index),
            false => others.push(index),
        }
    }
    drawn.sort_unstable();
    others.sort_unstable();
    (drawn, others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_stratified_and_whole() {
        let labels: Vec<usize> = (0..200).map(|i| usize::from(i % 4 == 0)).collect();
        for n in [0, 1, 37, 60, 200] {
            let (some, others) = drawn(&labels, n, Seed::new(5));
            assert_eq!((some.len(), others.len()), (n, 200 - n));
            let ones = some.iter().filter(|&&i| labels[i] == 1).count();
            assert!(
                ones.abs_diff((n as f64 / 4.0).round() as usize) <= 1,
                "{n}: {ones}"
            );
            let mut all = [some, others].concat();
            all.sort_unstable();
            assert_eq!(all, (0..200).collect::<Vec<_>>());
        }
        let of = |seed| drawn(&labels, 50, Seed::new(seed));
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn validation_rows_are_training_rows() {
        let labels = vec![0; 100];
        let split = RowSplit::of_all(&labels, 0.3, Seed::new(1));
        assert_eq!(split.test.len(), 30);
        assert_eq!((split.fitting.len(), split.validation.len()), (56, 14));
        let mut both = [split.fitting, split.validation].concat();
        both.sort_unstable();
        assert_eq!(both, split.training);
        assert!(split.test.iter().all(|row| !both.contains(row)));
    }
}
