//! The paper's evaluation: nested cross-validation of an SVM on frozen embeddings.

use icl_core::{Increment, Seed};
use serde::{Deserialize, Serialize};

use crate::folds::shuffled_stratified_folds;
use crate::nested::NestedValidation;
use crate::parts::{assert_labelled, labels_of};
use crate::{EvalError, Matrix, Parts};

/// Settings of [`SvmProtocol`]; the defaults are the paper's.
#[derive(Debug, Clone, PartialEq)]
pub struct SvmProtocolConfig {
    grid: Vec<f64>,
    n_folds: usize,
}

impl Default for SvmProtocolConfig {
    /// C ∈ {10⁻³, 10⁻², …, 10³}, 5 folds.
    fn default() -> Self {
        Self {
            grid: vec![1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3],
            n_folds: 5,
        }
    }
}

impl SvmProtocolConfig {
    /// The values of the penalty C to choose from, ascending.
    pub fn with_grid(self, grid: Vec<f64>) -> Self {
        Self { grid, ..self }
    }

    /// The number of outer and of inner folds.
    pub fn with_n_folds(self, n_folds: usize) -> Self {
        Self { n_folds, ..self }
    }

    /// The protocol.
    ///
    /// # Errors
    /// - [`EvalError::Grid`] if the grid is empty, not ascending, or holds a value that is not a
    ///   finite number above 0;
    /// - [`EvalError::FoldCount`] if there are fewer than two folds.
    pub fn try_init(self) -> Result<SvmProtocol, EvalError> {
        let positive = self.grid.iter().all(|c| c.is_finite() && *c > 0.0);
        let ascending = self.grid.windows(2).all(|pair| pair[0] < pair[1]);
        if self.grid.is_empty() || !positive || !ascending {
            return Err(EvalError::Grid { found: self.grid });
        }
        if self.n_folds < 2 {
            return Err(EvalError::FoldCount {
                found: self.n_folds,
            });
        }
        Ok(SvmProtocol { config: self })
    }
}

/// The accuracy that the protocol measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// Mean over the outer folds, in [0, 1].
    pub mean: f64,
    /// Standard deviation over the outer folds (divided by their number, not by one less).
    pub std: f64,
    /// The accuracy on each outer fold.
    pub per_fold: Vec<f64>,
    /// The C chosen for each outer fold.
    pub chosen_c: Vec<f64>,
    /// The number of outer folds: fewer than asked for where the smallest class has fewer members.
    pub n_folds: usize,
}

/// RBF-kernel SVM on frozen embeddings: in each of 5 outer folds C is chosen from a grid by inner
/// 5-fold cross-validation on the training part, and the machine refitted on the whole training part
/// is asked on the held-out fold.
///
/// What it computes is scikit-learn's
///
/// ```text
/// cross_val_score(GridSearchCV(SVC(), {"C": grid}, cv=5), X, y, cv=StratifiedKFold(5, shuffle=True))
/// ```
///
/// including the width γ of the kernel, scaled anew by the rows of every single fit, the unshuffled
/// inner folds, and, of several C with the best mean accuracy, the smallest. The outer folds are
/// drawn from the seed; they depend on labels and seed alone, so accuracies of several encoders on
/// the same samples are paired.
///
/// A class with m < 5 members leaves fewer folds: max(m, 2), outer and inner, which
/// [`Accuracy::n_folds`] tells. With a single class there is nothing to measure and the answer is
/// `None`.
///
/// Folds are worked on by rayon's threads; the result does not depend on their number. With n samples
/// it takes 8n² bytes, and in each thread up to 8n² more, and a time between n² and n³.
///
/// ```
/// use icl_core::Seed;
/// use icl_eval::{Matrix, SvmProtocolConfig};
///
/// // Twenty samples on a line; the class says on which side of the middle.
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

impl SvmProtocol {
    /// The accuracy on embeddings `[n, d]` with these labels; `None` for a single class.
    ///
    /// # Errors
    /// [`EvalError::NotConverged`] if a fit needs more than 10⁷ iterations.
    ///
    /// # Panics
    /// If there is not one label for each row.
    pub fn evaluate(
        &self,
        embeddings: &Matrix,
        labels: &[usize],
        seed: Seed,
    ) -> Result<Option<Accuracy>, EvalError> {
        assert_labelled(embeddings, labels);
        let Some(n_folds) = self.n_folds_for(labels) else {
            return Ok(None);
        };
        let folds = shuffled_stratified_folds(labels, n_folds, seed.child("folds"));
        let nested = NestedValidation::new(embeddings, labels, &self.config.grid);
        nested.run(&folds, n_folds).map(Some)
    }

    /// As [`evaluate`](Self::evaluate) on given outer folds: `folds[i]` is the fold, counted from 0,
    /// in which sample i is tested.
    ///
    /// # Errors
    /// - [`EvalError::FoldCount`] if there are fewer than two folds;
    /// - [`EvalError::EmptyFold`] if one of them holds no sample;
    /// - [`EvalError::NotConverged`] if a fit needs more than 10⁷ iterations.
    ///
    /// # Panics
    /// If there is not one label and one fold for each row.
    pub fn evaluate_on_folds(
        &self,
        embeddings: &Matrix,
        labels: &[usize],
        folds: &[usize],
    ) -> Result<Option<Accuracy>, EvalError> {
        assert_labelled(embeddings, labels);
        assert_eq!(
            labels.len(),
            folds.len(),
            "expected one fold for each sample (left), found as many as on the right"
        );
        let n_folds = folds.iter().max().map_or(0, |highest| highest + 1);
        if n_folds < 2 {
            return Err(EvalError::FoldCount { found: n_folds });
        }
        if let Some(fold) = (0..n_folds).find(|fold| !folds.contains(fold)) {
            return Err(EvalError::EmptyFold { fold, n_folds });
        }
        let Some(n_inner) = self.n_folds_for(labels) else {
            return Ok(None);
        };
        let nested = NestedValidation::new(embeddings, labels, &self.config.grid);
        nested.run(folds, n_inner).map(Some)
    }

    /// The protocol on X′, on X and on ΔX, each by itself. Rows of `embeddings` and `labels` are the
    /// samples of the data set, which the increment's indices choose from.
    ///
    /// # Errors
    /// [`EvalError::NotConverged`] if a fit needs more than 10⁷ iterations.
    ///
    /// # Panics
    /// If there is not one label for each row, or the increment names a row that does not exist.
    pub fn evaluate_parts(
        &self,
        embeddings: &Matrix,
        labels: &[usize],
        increment: &Increment,
        seed: Seed,
    ) -> Result<Parts<Option<Accuracy>>, EvalError> {
        assert_labelled(embeddings, labels);
        Parts::try_measure(increment, |rows| {
            self.evaluate(&embeddings.select(rows), &labels_of(labels, rows), seed)
        })
    }

    /// The number of folds that the smallest class allows; `None` for fewer than two classes.
    fn n_folds_for(&self, labels: &[usize]) -> Option<usize> {
        let mut sorted = labels.to_vec();
        sorted.sort_unstable();
        let sizes: Vec<usize> = sorted.chunk_by(|a, b| a == b).map(<[_]>::len).collect();
        match sizes.iter().min() {
            Some(&smallest) if sizes.len() > 1 => Some(smallest.clamp(2, self.config.n_folds)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
