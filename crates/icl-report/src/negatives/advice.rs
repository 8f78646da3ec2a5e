//! Numbers behind a recommended number of negatives.

use std::collections::BTreeSet;

use icl_core::Error;
use icl_core::negatives::{Optimum, Shares, auc, course, probabilities_by_k, separation};

use crate::error::check_schema;
use crate::record::{BestNegatives, MadeBy, NEGATIVES_SCHEMA, NegativesRecord};

/// Separations at which the best K is computed.
pub const SEPARATIONS: [f64; 20] = [
    0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.4, 2.6, 2.8,
    3.0,
];
/// Largest K that is considered at each of these separations.
pub(super) const MAX_SEARCHED: usize = 500;

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
    /// P(A), the probability that a label is reliable, and the mean of P(B), that a prediction is right, each at
    /// K = 1, 2, ….
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

    /// Computes the probabilities up to `max_k` negatives from AUCs.
    ///
    /// # Errors
    /// As [`new`](Self::new), or if an AUC is not above 0 and below 1, or a measured course has none. The place is its
    /// key in [`NegativesRecord`].
    pub fn of_aucs(
        train_auc: f64,
        of: PredictionCourse,
        lambda: f64,
        max_k: usize,
    ) -> Result<Self, Error> {
        let at = |place: &str, auc: f64| separation(auc).map_err(|error| error.at(place));
        let label = at("train_auc", train_auc)?;
        let predictions = match &of {
            PredictionCourse::Simulated => course(label, 3.0),
            PredictionCourse::Stage(auc) => vec![at("validation_auc", *auc)?],
            PredictionCourse::Measured(aucs) => {
                Error::unless(!aucs.is_empty(), "curve", "no AUC", "at least one")?;
                let separations = aucs.iter().map(|auc| at("curve", *auc));
                separations.collect::<Result<_, _>>()?
            }
        };
        Self::new((train_auc, label), (of, predictions), lambda, max_k)
    }

    /// Computes the probabilities again from what a record holds.
    ///
    /// # Errors
    /// As [`of_aucs`](Self::of_aucs), or if the record is of another [`NEGATIVES_SCHEMA`].
    pub fn of_record(record: &NegativesRecord) -> Result<Self, Error> {
        check_schema(1, record.schema, NEGATIVES_SCHEMA)?;
        let of = match (record.validation_auc, &record.curve) {
            (Some(auc), _) => PredictionCourse::Stage(auc),
            (None, Some(aucs)) => PredictionCourse::Measured(aucs.clone()),
            (None, None) => PredictionCourse::Simulated,
        };
        Self::of_aucs(record.train_auc, of, record.best.lambda, record.k_max)
    }

    /// Returns the record of this advice, made by a command.
    ///
    /// # Panics
    /// As [`optimum`](Self::optimum).
    pub fn record(&self, made_by: MadeBy) -> NegativesRecord {
        let (validation_auc, curve) = match &self.course {
            PredictionCourse::Simulated => (None, None),
            PredictionCourse::Stage(auc) => (Some(*auc), None),
            PredictionCourse::Measured(aucs) => (None, Some(aucs.clone())),
        };
        NegativesRecord {
            schema: NEGATIVES_SCHEMA,
            made_by,
            train_auc: self.train_auc,
            validation_auc,
            curve,
            mu_q: self.label,
            k_max: self.probabilities.len(),
            best: self.best(self.lambda),
            at_lambda_1: self.best(1.0),
        }
    }

    fn best(&self, lambda: f64) -> BestNegatives {
        let optimum = self.optimum(lambda);
        BestNegatives {
            lambda,
            k_opt: optimum.k,
            k_range: [*optimum.flat.start(), *optimum.flat.end()],
            effectiveness: optimum.effectiveness,
            is_at_bound: optimum.is_at_bound,
        }
    }

    /// Computes the probabilities for labels of a separation and a training whose predictions take the simulated course
    /// to t = `end`.
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

    /// Returns the numbers of negatives that tables show: powers of two up to 256, the best number and the ends of
    /// its range.
    pub fn shown(&self, optimum: &Optimum) -> BTreeSet<usize> {
        let n = self.probabilities.len().min(256);
        let powers = (0..).map(|power| 1 << power);
        let powers = powers.take_while(|k| *k <= n);
        let special = [optimum.k, *optimum.flat.start(), *optimum.flat.end()];
        powers.chain(special).collect()
    }

    /// Finds the best K at each of [`SEPARATIONS`], for the weight λ of this advice and for λ = 1, up to its largest K
    /// and at most 500.
    ///
    /// # Errors
    /// [`Error`] if λ is not from 0 to 1.
    pub fn best_over_separation(&self) -> Result<Vec<BestAt>, Error> {
        let max_k = self.probabilities.len().min(MAX_SEARCHED);
        let best = |separation: f64| {
            let advice = Self::of_course(separation, 3.0, self.lambda, max_k)?;
            Ok(BestAt {
                separation,
                k: advice.optimum(self.lambda).k,
                without_easy: advice.optimum(1.0).k,
            })
        };
        SEPARATIONS.into_iter().map(best).collect()
    }
}

/// The best number of negatives at a separation of the labels, for predictions of the simulated course.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestAt {
    /// Separation μ.
    pub separation: f64,
    /// Best K for the weight λ of the page.
    pub k: usize,
    /// Best K for λ = 1.
    pub without_easy: usize,
}

/// Returns the index from which on the best K rises with the separation. Before it, the best K falls: there labels
/// say so little that only the easy samples count.
pub(crate) fn end_of_artefact(best: &[BestAt]) -> usize {
    let lowest = best.iter().map(|at| at.k).min();
    best.iter().position(|at| Some(at.k) == lowest).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The right end of the paper's Fig. 4 at λ = 0.9 and at λ = 1, as SciPy computes it; the left one is an artefact.
    #[test]
    fn the_best_number_over_the_separation() {
        let advice = NegativesAdvice::of_course(1.0, 3.0, 0.9, 200).unwrap();
        let best = advice.best_over_separation().unwrap();
        let found: Vec<(usize, usize)> = best.iter().map(|at| (at.k, at.without_easy)).collect();
        let expected = [
            (200, 2),
            (200, 2),
            (200, 2),
            (200, 2),
            (80, 2),
            (27, 2),
            (12, 2),
            (7, 3),
            (5, 3),
            (5, 4),
            (5, 4),
            (6, 6),
            (7, 7),
            (9, 9),
            (11, 12),
            (15, 17),
            (21, 23),
            (29, 33),
            (42, 48),
            (63, 73),
        ];
        assert_eq!(found, expected);
        assert_eq!(end_of_artefact(&best), 8);
    }

    #[test]
    fn a_record_gives_the_same_advice() {
        let measured = PredictionCourse::Measured(vec![0.1 + 0.2, 1.0 / 3.0, 0.7]);
        for of in [
            PredictionCourse::Simulated,
            PredictionCourse::Stage(2.0 / 3.0),
            measured,
        ] {
            let advice = NegativesAdvice::of_aucs(0.95, of, 0.9, 40).unwrap();
            let record = advice.record(MadeBy::command("icl negatives"));
            let line = serde_json::to_string(&record).unwrap();
            let read: NegativesRecord = serde_json::from_str(&line).unwrap();
            assert_eq!(read, record);
            let again = NegativesAdvice::of_record(&read).unwrap();
            assert_eq!(again.course, advice.course);
            assert_eq!(again.probabilities, advice.probabilities);
            assert_eq!(again.record(read.made_by), record);
        }
    }
}
