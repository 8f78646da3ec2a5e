//! The paper's protocol: nested cross-validation of a support vector machine on frozen embeddings.

use icl_eval::cross_validation::{
    Tunable, check_folds, choose, count_folds, labels_of, measure_folds, n_fits, n_folds_for,
    share_right,
};
use icl_eval::{Accuracy, CrossValidated, EvalError, Matrix, Watch, Work};

use super::classifier::SvmTraining;

/// Values of the penalty C to choose from.
const GRID: [f64; 7] = [1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3];
/// Number of outer folds, and of inner folds.
const N_FOLDS: usize = 5;

/// Name of the protocol as an option.
pub const NAME: &str = "svm";
/// Name of the protocol in words, under which records hold its accuracies.
pub const WORDS: &str = "support vector machine";

/// Protocol of the paper: a support vector machine with RBF kernel on frozen embeddings
/// ([`SvmTraining`]), C ∈ {10⁻³, 10⁻², …, 10³}.
///
/// In each of 5 outer folds, C is chosen by inner 5-fold cross-validation on the training
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
/// If the smallest class has m < 5 members, there are max(m, 2) folds, outer and inner.
///
/// Folds run on rayon's threads; the result does not depend on their number. With n samples it takes at most 4n² bytes in
/// each thread, and a time between n² and n³.
///
/// ```
/// use icl_core::Seed;
/// use icl_eval::{Matrix, Protocol};
/// use icl_lab::svm::SvmProtocol;
///
/// // Twenty samples on a line; the class is the side of the middle.
/// let embeddings = Matrix::try_new((0..20).map(f64::from).collect(), 1)?;
/// let labels: Vec<usize> = (0..20).map(|i| i / 10).collect();
/// let accuracy = SvmProtocol.evaluate(&embeddings, &labels, Seed::new(0))?;
/// assert!(accuracy.is_some_and(|accuracy| accuracy.mean >= 0.9));
/// # Ok::<(), icl_eval::EvalError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SvmProtocol;

impl CrossValidated for SvmProtocol {
    fn n_folds(&self) -> usize {
        N_FOLDS
    }

    fn evaluate_on_folds_with(
        &self,
        embeddings: &Matrix,
        labels: &[usize],
        folds: &[usize],
        watch: &Watch<'_>,
    ) -> Result<Option<Accuracy>, EvalError> {
        check_folds(labels, folds)?;
        let Some(n_inner) = n_folds_for(labels, N_FOLDS) else {
            return Ok(None);
        };
        let machines = Machines { embeddings, labels };
        let work = Work::new(watch, n_fits(count_folds(folds), n_inner, &GRID));
        let accuracy = measure_folds(folds, |training, test| {
            let c = choose(&machines, training, &GRID, n_inner, &work)?;
            let accuracy = machines.accuracies(training, test, &[c], &work)?[0];
            Ok((accuracy, Some(c)))
        });
        accuracy.map(Some)
    }
}

/// Samples that the folds of a cross-validation select from.
struct Machines<'a> {
    embeddings: &'a Matrix,
    labels: &'a [usize],
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
        let of_training = labels_of(self.labels, training);
        let training = SvmTraining::new(&self.embeddings.select(training), &of_training);
        let (tested, labels) = (self.embeddings.select(test), labels_of(self.labels, test));
        let accuracies = grid.iter().map(|&c| {
            work.watch.check()?;
            let predictions = training.fit(c).predict(&tested);
            work.advance();
            Ok(share_right(&predictions, &labels))
        });
        accuracies.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use icl_core::{Increment, Seed};
    use icl_eval::Protocol;

    fn line(n: usize) -> Matrix {
        Matrix::try_new((0..n).map(|i| i as f64).collect(), 1).unwrap()
    }

    #[test]
    fn separated_classes_are_told_apart() {
        let labels: Vec<usize> = (0..40).map(|i| usize::from(i >= 20)).collect();
        let values = (0..40).map(|i| if i < 20 { i } else { 1000 + i });
        let matrix = Matrix::try_new(values.map(f64::from).collect(), 1).unwrap();
        let found = SvmProtocol
            .evaluate(&matrix, &labels, Seed::new(0))
            .unwrap()
            .unwrap();
        assert_eq!((found.mean, found.std, found.n_folds), (1.0, 0.0, 5));
    }

    #[test]
    fn features_that_say_nothing_give_the_majority() {
        let labels: Vec<usize> = (0..50).map(|i| usize::from(i % 5 == 0)).collect();
        let matrix = Matrix::try_new(vec![0.1; 150], 3).unwrap();
        let found = SvmProtocol
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
            let found = SvmProtocol
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
            let found = SvmProtocol
                .evaluate(&line(labels.len()), &labels, Seed::new(0))
                .unwrap();
            assert!((0.0..=1.0).contains(&found.unwrap().mean), "{labels:?}");
        }
    }

    #[test]
    fn a_single_class_has_no_accuracy() {
        let found = SvmProtocol.evaluate(&line(9), &[7; 9], Seed::new(0));
        assert_eq!(found, Ok(None));
        let folds: Vec<usize> = (0..9).map(|i| i % 3).collect();
        assert_eq!(
            SvmProtocol.evaluate_on_folds(&line(9), &[7; 9], &folds),
            Ok(None)
        );
    }

    #[test]
    fn lopsided_folds_are_answered() {
        // Fold 0 leaves two samples to choose C from.
        let labels: Vec<usize> = (0..20).map(|i| i % 2).collect();
        let folds: Vec<usize> = (0..20).map(|i| usize::from(i < 2)).collect();
        let found = SvmProtocol
            .evaluate_on_folds(&line(20), &labels, &folds)
            .unwrap()
            .unwrap();
        assert!((0.0..=1.0).contains(&found.mean));
    }

    #[test]
    fn folds_must_be_filled() {
        let labels = [0, 1, 0, 1];
        let message = |folds: &[usize]| {
            let found = SvmProtocol.evaluate_on_folds(&line(4), &labels, folds);
            found.unwrap_err().to_string()
        };
        let empty = "folds: no sample is in fold 1 of 3, expected at least one";
        assert_eq!(message(&[0, 0, 2, 2]), empty);
        assert_eq!(message(&[0; 4]), "folds: found 1, expected at least 2");
    }

    #[test]
    fn labels_are_complete() {
        let error = SvmProtocol.evaluate(&line(4), &[0, 1, 0], Seed::new(0));
        assert_eq!(
            error.unwrap_err().to_string(),
            "labels: found 3, expected 4, one for each row"
        );
    }

    #[test]
    fn parts_are_evaluated_by_themselves() {
        let labels: Vec<usize> = (0..60).map(|i| usize::from(i * 7 % 13 > 6)).collect();
        let (old, new): (Vec<usize>, Vec<usize>) = (0..60).partition(|i| i % 3 > 0);
        let increment = Increment::try_new(old.clone(), new).unwrap();
        let seed = Seed::new(5);
        let parts = SvmProtocol
            .evaluate_parts(&line(60), &labels, &increment, seed)
            .unwrap();
        let of_old = labels_of(&labels, &old);
        let old = SvmProtocol.evaluate(&line(60).select(&old), &of_old, seed);
        assert_eq!(parts.old, old.unwrap());
        assert_ne!(parts.old, parts.all);
    }
}
