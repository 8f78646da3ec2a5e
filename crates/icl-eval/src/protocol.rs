//! What every protocol answers: an accuracy of embeddings, on folds that depend on labels and seed.

use icl_core::{Increment, Seed};

use crate::folds::{n_folds_for, shuffled_stratified_folds};
use crate::parts::{assert_labelled, labels_of};
use crate::{Accuracy, EvalError, Matrix, Parts};

/// A way to measure what frozen embeddings tell about their classes, by stratified cross-validation.
///
/// The outer folds are drawn from the seed; they depend on labels, seed and number of folds alone. So
/// accuracies of several encoders on the same samples are paired, and so are those of several
/// protocols with the same number of folds, and the [`Floors`](crate::Floors) beside them.
///
/// A class with m members, fewer than folds, leaves fewer folds: max(m, 2), which
/// [`Accuracy::n_folds`] tells. With a single class there is nothing to measure and the answer is
/// `None`.
///
/// ```
/// use icl_core::Seed;
/// use icl_eval::{KnnProtocolConfig, LinearProbeConfig, Matrix, Protocol, SvmProtocolConfig};
///
/// // Forty samples on two arms; the class is the arm.
/// let points = (1..=40).map(f64::from).map(|i| if i < 21.0 { [i, 0.0] } else { [0.0, i] });
/// let embeddings = Matrix::try_new(points.flatten().collect(), 2)?;
/// let labels: Vec<usize> = (0..40).map(|i| i / 20).collect();
/// let protocols: [&dyn Protocol; 3] = [
///     &SvmProtocolConfig::default().try_init()?,
///     &LinearProbeConfig::default().try_init()?,
///     &KnnProtocolConfig::default().try_init()?,
/// ];
/// for protocol in protocols {
///     let accuracy = protocol.evaluate(&embeddings, &labels, Seed::new(0))?;
///     assert!(accuracy.is_some_and(|accuracy| accuracy.mean >= 0.9));
/// }
/// # Ok::<(), icl_eval::EvalError>(())
/// ```
pub trait Protocol {
    /// The number of outer folds where no class has fewer members.
    fn n_folds(&self) -> usize;

    /// The accuracy on embeddings `[n, d]` with given outer folds: `folds[i]` is the fold, counted
    /// from 0, in which sample i is tested. `None` for a single class.
    ///
    /// # Errors
    /// - [`EvalError::FoldCount`] if there are fewer than two folds;
    /// - [`EvalError::EmptyFold`] if one of them holds no sample;
    /// - what the protocol's fits may say.
    ///
    /// # Panics
    /// If there is not one label and one fold for each row.
    fn evaluate_on_folds(
        &self,
        embeddings: &Matrix,
        labels: &[usize],
        folds: &[usize],
    ) -> Result<Option<Accuracy>, EvalError>;

    /// The accuracy on embeddings `[n, d]` with these labels, on folds drawn from the seed; `None`
    /// for a single class.
    ///
    /// # Errors
    /// What the protocol's fits may say.
    ///
    /// # Panics
    /// If there is not one label for each row.
    fn evaluate(
        &self,
        embeddings: &Matrix,
        labels: &[usize],
        seed: Seed,
    ) -> Result<Option<Accuracy>, EvalError> {
        assert_labelled(embeddings, labels);
        let Some(n_folds) = n_folds_for(labels, self.n_folds()) else {
            return Ok(None);
        };
        let folds = shuffled_stratified_folds(labels, n_folds, seed.child("folds"));
        self.evaluate_on_folds(embeddings, labels, &folds)
    }

    /// The protocol on X′, on X and on ΔX, each by itself. Rows of `embeddings` and `labels` are the
    /// samples of the data set, which the increment's indices choose from.
    ///
    /// # Errors
    /// What the protocol's fits may say.
    ///
    /// # Panics
    /// If there is not one label for each row, or the increment names a row that does not exist.
    fn evaluate_parts(
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
}
