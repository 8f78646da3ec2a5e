//! Numbers behind a recommended number of negatives.

use icl_core::Error;
use icl_core::negatives::{Optimum, Shares, auc, course, probabilities_by_k};

/// Course that the predictions take during a training.
#[derive(Debug, Clone, PartialEq)]
pub enum PredictionCourse {
    /// Simulated: μ(1 − exp(−t)), t from 0 to 3.
    Simulated,
    /// One stage of a training with this validation AUC.
    Stage(f64),
    /// AUCs that were measured during a training.
    Measured(Vec<f64>),
}

/// A recommended number of negatives, and all that it follows from.
#[derive(Debug, Clone)]
pub struct NegativesAdvice {
    /// AUC from which the separation of the labels follows.
    pub train_auc: f64,
    /// Separation μ of the labels.
    pub label: f64,
    /// Course of the predictions.
    pub course: PredictionCourse,
    /// Separations of the predictions.
    pub predictions: Vec<f64>,
    /// Weight λ of good and bad samples against easy ones.
    pub lambda: f64,
    /// P(A) and the mean of P(B) at K = 1, 2, ….
    pub probabilities: Vec<[f64; 2]>,
}

impl NegativesAdvice {
    /// Computes the probabilities up to `max_k` negatives.
    ///
    /// # Errors
    /// [`Error`] if a separation is not finite or there is no prediction, λ is not from 0 to 1, or `max_k` is 0 or
    /// too large.
    pub fn new(
        (train_auc, label): (f64, f64),
        (course, predictions): (PredictionCourse, Vec<f64>),
        lambda: f64,
        max_k: usize,
    ) -> Result<Self, Error> {
        if !(0.0..=1.0).contains(&lambda) {
            return Err(Error::new("lambda", lambda, "a number from 0 to 1"));
        }
        Ok(Self {
            probabilities: probabilities_by_k(label, &predictions, max_k)?,
            train_auc,
            label,
            course,
            predictions,
            lambda,
        })
    }

    /// Computes the probabilities for labels of a separation and a training whose predictions take the simulated course to
    /// t = `end`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_course(label: f64, end: f64, lambda: f64, max_k: usize) -> Result<Self, Error> {
        let predictions = (PredictionCourse::Simulated, course(label, end));
        Self::new((auc(label), label), predictions, lambda, max_k)
    }

    /// Returns the shares of good, bad and easy samples at K = 1, 2, ….
    pub fn shares(&self) -> impl Iterator<Item = Shares> {
        self.probabilities
            .iter()
            .map(|[label, prediction]| Shares::new(*label, *prediction))
    }

    /// Returns the training effectiveness at K = 1, 2, … for a weight λ.
    pub fn effectiveness(&self, lambda: f64) -> Vec<f64> {
        let of = |shares: Shares| shares.effectiveness(lambda);
        self.shares().map(of).collect()
    }

    /// Returns the best number of negatives for a weight λ.
    ///
    /// # Panics
    /// If there are no probabilities, which [`new`](Self::new) never leaves.
    pub fn optimum(&self, lambda: f64) -> Optimum {
        Optimum::of(&self.effectiveness(lambda)).expect("at least one K")
    }
}
