//! A measured drift.

use super::discrepancy::Discrepancy;
use super::estimate::{Estimate, Jackknife, LeftOut};
use super::no_drift::NoDrift;
use super::terms::AnchorTerms;
use super::verdict::Verdict;
use crate::negatives::Rank;

/// Chance of any false alarm, of all tests together.
const LEVEL: f64 = 0.05;
/// If more than one of so many anchors have several rows in the noise, the verdict is unclear.
const ONE_OF: usize = 10;

/// Drift of the noise from old to new, as old and as new anchors see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Drift {
    /// Drift that old anchors see.
    pub old: AnchorDrift,
    /// Drift that new anchors see, if the data have any.
    pub new: Option<AnchorDrift>,
    /// General difference of old and new noise, if the data have no new anchors.
    pub discrepancy: Option<Discrepancy>,
}

/// Drift of the noise from old to new, as anchors of one origin see it.
#[derive(Debug, Clone, PartialEq)]
pub struct AnchorDrift {
    /// Statistic s: the mean of L^{I,X} − L^{I,X′} over all anchors, in nats. Negative if the noise moves towards them.
    pub bias_inference: f64,
    /// Standard error of s as that of all rows, in nats; 0 if all are compared ([`Estimate`]).
    pub standard_error: f64,
    /// Range of s, in nats: with all rows, and without the row of their own origin that is most similar to each anchor
    /// that has none of its own. Both ends are s if each anchor has one. Of a random subset, rows are those that are
    /// drawn.
    pub bias_range: [f64; 2],
    /// Number of all anchors, of which [`terms`](Self::terms) may hold a random subset.
    pub n_anchors: usize,
    /// Number of all anchors without a row of their own in all of the noise: no row equals the anchor or its positive
    /// bit for bit.
    pub n_unpaired: usize,
    /// Number of all anchors whose samples have more than one row in the noise of their origin.
    pub n_repeated: usize,
    /// Number of rows that are left out of the noise as self-pairs, over all anchors and all rows.
    pub n_self_pairs: usize,
    /// Distribution of |s| without drift, of as many rows as are compared.
    pub null: NoDrift,
    /// The p-value of the end of the range that is nearer to 0, by Holm's correction for all tests of the [`Drift`].
    pub p_adjusted: f64,
    /// Smallest drift that counts, in nats.
    pub effect: f64,
    /// Row of each anchor that is compared among all of its origin.
    pub anchors: Vec<usize>,
    /// Terms of each of these anchors.
    pub terms: Vec<AnchorTerms>,
    pub(super) left_out: LeftOut,
}

impl Drift {
    /// Returns the verdict of all tests together:
    ///
    /// - unclear if more than a tenth of the old or of the new anchors have several rows in the noise; otherwise
    /// - update if the test of old or of new anchors says so;
    /// - keep if all tests say so and, without new anchors, the discrepancy is not significant;
    /// - unclear otherwise.
    ///
    /// The chance of a false alarm, to update or by a significant discrepancy, is at most 5 %.
    pub fn verdict(&self) -> Verdict {
        match self.deciding().verdict() {
            Verdict::Keep if self.is_other_noise() => Verdict::Unclear,
            verdict => verdict,
        }
    }

    /// Returns the number of self-pairs that were left out, over all anchors.
    pub fn n_self_pairs(&self) -> usize {
        self.old.n_self_pairs + self.new.as_ref().map_or(0, |new| new.n_self_pairs)
    }

    /// Returns the drift that decides the joint verdict: in a tie, that of the old anchors.
    pub fn deciding(&self) -> &AnchorDrift {
        let weight = |drift: &AnchorDrift| match drift.verdict() {
            // Old and new anchors share the noise, whose repeated rows make either test invalid.
            _ if drift.is_repeated() => 3,
            Verdict::Update => 2,
            Verdict::Unclear => 1,
            Verdict::Keep => 0,
        };
        match &self.new {
            Some(new) if weight(new) > weight(&self.old) => new,
            _ => &self.old,
        }
    }

    /// Returns whether the discrepancy of old and new noise is significant.
    pub(super) fn is_other_noise(&self) -> bool {
        let discrepancy = self.discrepancy.as_ref();
        discrepancy.is_some_and(|it| it.p_adjusted <= LEVEL)
    }
}

impl AnchorDrift {
    /// Returns the verdict of the test of these anchors.
    pub fn verdict(&self) -> Verdict {
        match self.is_repeated() {
            true => Verdict::Unclear,
            false => self.verdict_of(self.bias_range, self.p_adjusted),
        }
    }

    /// Returns whether too many samples have several rows in the noise, which are not independent.
    pub(super) fn is_repeated(&self) -> bool {
        self.n_repeated * ONE_OF > self.n_anchors
    }

    /// Returns whether s itself, in the place of its range and without Holm's correction, would give a decision.
    pub(super) fn is_open_by_range(&self) -> bool {
        let s = self.bias_inference;
        self.verdict_of([s, s], self.null.p_value) != Verdict::Unclear
    }

    fn verdict_of(&self, range: [f64; 2], p_value: f64) -> Verdict {
        Verdict::of(range, p_value <= LEVEL, self.null.q95, self.effect)
    }
}

impl AnchorDrift {
    /// Returns whether a random subset of the anchors or of the noise was compared.
    pub fn is_of_subset(&self) -> bool {
        self.left_out.anchors > 0.0 || self.left_out.noise != [0.0; 2]
    }

    /// Estimates means over all anchors of quantities that are functions of an anchor's terms. `quantities` receives
    /// terms and returns a list for each quantity, with a value for each of these terms.
    ///
    /// # Errors
    /// Those of `quantities`.
    pub fn estimates<E>(
        &self,
        quantities: impl FnOnce(&[AnchorTerms]) -> Result<Vec<Vec<f64>>, E>,
    ) -> Result<Vec<Estimate>, E> {
        let [old, new] = &self.left_out.log_noise_without;
        let n = self.terms.len();
        let mut terms = self.terms.clone();
        terms.extend(old.iter().enumerate().map(|(at, value)| AnchorTerms {
            log_noise_old: *value,
            ..self.terms[at % n]
        }));
        terms.extend(new.iter().enumerate().map(|(at, value)| AnchorTerms {
            log_noise_new: *value,
            ..self.terms[at % n]
        }));
        let estimate = |values: &Vec<f64>| {
            let (values, without) = values.split_at(n);
            let (without_old, without_new) = without.split_at(old.len());
            let [of_old, of_new] = self.left_out.noise;
            let old = Jackknife::of(values, without_old, of_old);
            let new = Jackknife::of(values, without_new, of_new);
            let unbiased = values.iter().enumerate().map(|(at, value)| {
                let bias = old.bias_of(at, *value) + new.bias_of(at, *value);
                // A ratio beyond the range of a double stays infinite.
                if bias.is_finite() {
                    value - bias
                } else {
                    *value
                }
            });
            self.estimate(unbiased.collect(), old.variance + new.variance)
        };
        Ok(quantities(&terms)?.iter().map(estimate).collect())
    }

    /// Estimates the mean over all anchors of a quantity of the rank of an anchor's positive that a random subset of
    /// the noise does not bias, such as [`Rank::auc`].
    pub fn estimate_of_rank(&self, quantity: impl Fn(&Rank) -> f64) -> Estimate {
        let values: Vec<f64> = self.terms.iter().map(|it| quantity(&it.rank)).collect();
        let without = self.left_out.ranks_without.iter().map(&quantity);
        let [old, new] = self.left_out.noise;
        // Ranks hold the same share of the old and of the new rows, that of the origin of which more is left out.
        let noise = Jackknife::of(&values, &without.collect::<Vec<f64>>(), old.max(new));
        self.estimate(values, noise.variance)
    }

    /// Returns the smallest number of rows of the noise among which a positive is ranked, also without a group.
    pub fn n_ranked(&self) -> usize {
        let ranks = self.terms.iter().map(|it| &it.rank);
        let ranks = ranks.chain(&self.left_out.ranks_without);
        ranks.map(Rank::n_noise).min().unwrap_or(0)
    }

    fn estimate(&self, of_anchors: Vec<f64>, of_noise: f64) -> Estimate {
        let n = of_anchors.len() as f64;
        let mean = of_anchors.iter().sum::<f64>() / n;
        let squares = of_anchors.iter().map(|value| (value - mean).powi(2));
        let of_anchors_drawn = match self.left_out.anchors > 0.0 {
            true => self.left_out.anchors * squares.sum::<f64>() / (n - 1.0) / n,
            false => 0.0,
        };
        Estimate {
            of_anchors,
            mean,
            standard_error: (of_anchors_drawn + of_noise).sqrt(),
        }
    }
}
