//! Search for the best number of negatives under several weights λ.

use std::fmt;

use icl_core::negatives::{NegativesError, Optimum, Shares, course, probabilities_by_k};

/// Probabilities P(A) and mean P(B) at K = 1, 2, …, among which the best K is searched.
#[derive(Debug, Clone)]
pub(super) struct KSearch {
    probabilities: Vec<[f64; 2]>,
}

/// Best number of negatives, or none up to the bound of the search.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BestK(pub(super) Optimum);

impl KSearch {
    /// Searches up to `max_k` for labels of this separation and a training whose predictions take the simulated course to t
    /// = `end`.
    ///
    /// # Errors
    /// [`NegativesError`] if the separation is not finite, or `max_k` is 0 or too large.
    pub(super) fn of_course(label: f64, end: f64, max_k: usize) -> Result<Self, NegativesError> {
        Ok(Self {
            probabilities: probabilities_by_k(label, &course(label, end), max_k)?,
        })
    }

    /// Searches for a stage at which the predictions have a separation of their own.
    ///
    /// # Errors
    /// As [`of_course`](Self::of_course).
    pub(super) fn of_stage(
        label: f64,
        prediction: f64,
        max_k: usize,
    ) -> Result<Self, NegativesError> {
        Ok(Self {
            probabilities: probabilities_by_k(label, &[prediction], max_k)?,
        })
    }

    /// Returns the shares of samples at K = 1, 2, ….
    pub(super) fn shares(&self) -> impl Iterator<Item = Shares> {
        let of = |[label, prediction]: &[f64; 2]| Shares::new(*label, *prediction);
        self.probabilities.iter().map(of)
    }

    /// Returns the effectiveness at K = 1, 2, ….
    pub(super) fn effectiveness(&self, lambda: f64) -> Vec<f64> {
        let of = |shares: Shares| shares.effectiveness(lambda);
        self.shares().map(of).collect()
    }

    /// Returns the best K.
    ///
    /// # Panics
    /// If there is no K, which no search has.
    pub(super) fn best(&self, lambda: f64) -> BestK {
        BestK(Optimum::of(&self.effectiveness(lambda)).expect("at least one K"))
    }
}

impl BestK {
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
