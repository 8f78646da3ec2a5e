//! The traits of protocols, which measure the accuracy of embeddings, most of them by cross-validation.

use std::cell::Cell;

use icl_core::{ByOrigin, Increment, Seed};

use crate::cross_validation::{n_folds_for, shuffled_stratified_folds};
use crate::matrix::{check_count, check_rows, labels_of};
use crate::{Accuracy, EvalError, Matrix, Watch};

/// A protocol that measures how well classes can be predicted from frozen embeddings.
///
/// Its draws depend on labels and seed alone. Accuracies of several encoders on the same samples are
/// therefore paired, as are those of several protocols with the same number of folds and their
/// [`Floors`](crate::Floors). With a single class nothing can be measured and the result is `None`.
///
/// ```
/// use icl_core::Seed;
/// use icl_eval::{KnnProtocolConfig, LinearProbeConfig, Matrix, Protocol};
///
/// // Forty samples on two arms; the class is the arm.
/// let points = (1..=40).map(f64::from).map(|i| if i < 21.0 { [i, 0.0] } else { [0.0, i] });
/// let embeddings = Matrix::try_new(points.flatten().collect(), 2)?;
/// let labels: Vec<usize> = (0..40).map(|i| i / 20).collect();
/// let protocols: [&dyn Protocol; 2] = [
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
    /// Measures the accuracy on embeddings `[n, d]` with these labels, on folds or samples drawn from the seed.
    /// The result is `None` for a single class. `watch` gets the progress and may stop it.
    ///
    /// # Errors
    /// - [`EvalErrorKind::Invalid`](crate::EvalErrorKind::Invalid) if there is not one label for each row;
    /// - [`EvalErrorKind::Interrupted`](crate::EvalErrorKind::Interrupted) if the watch stops it;
    /// - the errors of the fits of the protocol.
    fn evaluate_with(
        &self,
        embeddings: &Matrix,
        labels: &[usize],
        seed: Seed,
        watch: &Watch<'_>,
    ) -> Result<Option<Accuracy>, EvalError>;

    /// Measures as [`evaluate_with`](Self::evaluate_with) does, unwatched.
    ///
    /// # Errors
    /// Those of [`evaluate_with`](Self::evaluate_with).
    fn evaluate(
        &self,
        embeddings: &Matrix,
        labels: &[usize],
        seed: Seed,
    ) -> Result<Option<Accuracy>, EvalError> {
        self.evaluate_with(embeddings, labels, seed, &Watch::new())
    }

    /// Measures the accuracy on X′, on X and on ΔX, each by itself, as [`evaluate_with`](Self::evaluate_with)
    /// does. The rows of `embeddings` and `labels` are the samples of the data set, which the indices of
    /// the increment refer to. `watch` gets the progress and may stop it.
    ///
    /// # Errors
    /// - [`EvalErrorKind::Invalid`](crate::EvalErrorKind::Invalid) if there is not one label for each row;
    /// - [`EvalErrorKind::Invalid`](crate::EvalErrorKind::Invalid) if an index of the increment is not below the
    ///   number of rows;
    /// - [`EvalErrorKind::Interrupted`](crate::EvalErrorKind::Interrupted) if the watch stops it;
    /// - the errors of the fits of the protocol.
    fn evaluate_parts_with(
        &self,
        embeddings: &Matrix,
        labels: &[usize],
        increment: &Increment,
        seed: Seed,
        watch: &Watch<'_>,
    ) -> Result<ByOrigin<Option<Accuracy>>, EvalError> {
        check_count("labels", labels.len(), embeddings)?;
        check_rows("increment", &increment.all(), labels.len())?;
        over_parts(increment, watch, |rows, watch| {
            let labels = labels_of(labels, rows);
            self.evaluate_with(&embeddings.select(rows), &labels, seed, watch)
        })
    }

    /// Measures as [`evaluate_parts_with`](Self::evaluate_parts_with) does, unwatched.
    ///
    /// # Errors
    /// Those of [`evaluate_parts_with`](Self::evaluate_parts_with).
    fn evaluate_parts(
        &self,
        embeddings: &Matrix,
        labels: &[usize],
        increment: &Increment,
        seed: Seed,
    ) -> Result<ByOrigin<Option<Accuracy>>, EvalError> {
        self.evaluate_parts_with(embeddings, labels, increment, seed, &Watch::new())
    }
}

/// A protocol by stratified cross-validation, which can be given its outer folds.
///
/// Drawn outer folds depend on labels, seed and number of folds alone. If the smallest class has m members, fewer
/// than there are folds, the number of folds is max(m, 2); [`Accuracy::n_folds`] holds it.
pub trait CrossValidated {
    /// Returns the number of outer folds if no class has fewer members.
    fn n_folds(&self) -> usize;

    /// Measures the accuracy on embeddings `[n, d]` with given outer folds: `folds[i]` is the fold,
    /// counted from 0, in which sample i is tested. The result is `None` for a single class. `watch` gets the
    /// progress and may stop it.
    ///
    /// # Errors
    /// - [`EvalErrorKind::Invalid`](crate::EvalErrorKind::Invalid) if there is not one label and one fold for each row;
    /// - [`EvalErrorKind::Invalid`](crate::EvalErrorKind::Invalid) if there are fewer than two folds;
    /// - [`EvalErrorKind::Invalid`](crate::EvalErrorKind::Invalid) if a fold has no sample;
    /// - [`EvalErrorKind::Interrupted`](crate::EvalErrorKind::Interrupted) if the watch stops it;
    /// - the errors of the fits of the protocol.
    fn evaluate_on_folds_with(
        &self,
        embeddings: &Matrix,
        labels: &[usize],
        folds: &[usize],
        watch: &Watch<'_>,
    ) -> Result<Option<Accuracy>, EvalError>;

    /// Measures as [`evaluate_on_folds_with`](Self::evaluate_on_folds_with) does, unwatched.
    ///
    /// # Errors
    /// Those of [`evaluate_on_folds_with`](Self::evaluate_on_folds_with).
    fn evaluate_on_folds(
        &self,
        embeddings: &Matrix,
        labels: &[usize],
        folds: &[usize],
    ) -> Result<Option<Accuracy>, EvalError> {
        self.evaluate_on_folds_with(embeddings, labels, folds, &Watch::new())
    }
}

impl<P: CrossValidated> Protocol for P {
    fn evaluate_with(
        &self,
        embeddings: &Matrix,
        labels: &[usize],
        seed: Seed,
        watch: &Watch<'_>,
    ) -> Result<Option<Accuracy>, EvalError> {
        check_count("labels", labels.len(), embeddings)?;
        let Some(n_folds) = n_folds_for(labels, self.n_folds()) else {
            return Ok(None);
        };
        let folds = shuffled_stratified_folds(labels, n_folds, seed.child("folds"));
        self.evaluate_on_folds_with(embeddings, labels, &folds, watch)
    }
}

/// Applies `measure` to the samples of X′, of X and of ΔX, with a watch of its part of the work: most protocols
/// take a time that grows with the square of the number of samples.
pub(crate) fn over_parts<T>(
    increment: &Increment,
    watch: &Watch<'_>,
    measure: impl Fn(&[usize], &Watch<'_>) -> Result<T, EvalError>,
) -> Result<ByOrigin<T>, EvalError> {
    let work = |n: usize| (n * n) as f64;
    let parts = [increment.old().len(), increment.new_data().len()];
    let whole = work(parts.iter().sum());
    let total = whole + parts.into_iter().map(work).sum::<f64>();
    let done = Cell::new(0.0);
    let found = ByOrigin::try_measure(increment, |rows| {
        watch.check()?;
        let from = done.get();
        done.set(from + work(rows.len()) / total);
        measure(rows, &watch.part(from, done.get()))
    });
    watch.tell(1.0);
    found
}
