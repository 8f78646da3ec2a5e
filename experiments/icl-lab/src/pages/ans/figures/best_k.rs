//! Best number of negatives, as the tables of the figures write it.

use std::fmt;

use icl_core::Error;
use icl_core::negatives::{Optimum, auc};
use icl_report::{NegativesAdvice, PredictionCourse};

/// Weight λ of the paper.
pub(super) const LAMBDA: f64 = 0.9;

/// Best number of negatives, or none up to the bound of the search.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BestK(pub(super) Optimum);

/// Computes the effectiveness up to `max_k` negatives for a training whose predictions take the simulated course to t =
/// `end`.
///
/// # Errors
/// [`Error`] if the separation is not finite, or `max_k` is 0 or too large.
pub(super) fn of_course(label: f64, end: f64, max_k: usize) -> Result<NegativesAdvice, Error> {
    NegativesAdvice::of_course(label, end, LAMBDA, max_k)
}

/// Computes the effectiveness for a stage at which the predictions have a separation of their own.
///
/// # Errors
/// As [`of_course`].
pub(super) fn of_stage(
    label: f64,
    prediction: f64,
    max_k: usize,
) -> Result<NegativesAdvice, Error> {
    let stage = PredictionCourse::Stage(auc(prediction));
    NegativesAdvice::new(
        (auc(label), label),
        (stage, vec![prediction]),
        LAMBDA,
        max_k,
    )
}

impl BestK {
    /// Searches for the best K under a weight λ.
    pub(super) fn of(advice: &NegativesAdvice, lambda: f64) -> Self {
        Self(advice.optimum(lambda))
    }

    /// Returns whether a number is as good as the best.
    pub(super) fn is_as_good(&self, k: usize) -> bool {
        !self.0.is_at_bound && self.0.flat.contains(&k)
    }
}

impl fmt::Display for BestK {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Optimum { k, flat, .. } = &self.0;
        match self.0.is_at_bound {
            true => write!(f, "none up to {k}"),
            false => write!(f, "{k} ({}–{})", flat.start(), flat.end()),
        }
    }
}
