//! Estimates of means over all anchors and all noise from a random subset of them.

use super::measurement::AnchorDrift;
use super::terms::{AnchorMeasured, AnchorTerms, N_GROUPS};
use crate::negatives::Rank;

/// Mean of a quantity over all anchors, each with all of its noise; estimated where a random subset of them is
/// compared.
///
/// The subset has three parts that are drawn independently: anchors, old and new noise. The variance is the sum of
/// theirs without replacement. That of the anchors is the sample variance; those of the noise are by the jackknife
/// that leaves out one of G = 32 groups of rows at a time (Tukey, 1958):
///
/// ```text
/// SE² = (1 − n/N)·S²/n + Σ over both parts (1 − m/M)·(G − 1)/G · Σ_g (θ₍g₎ − θ̄)²      n of N anchors, m of M rows
/// ```
///
/// Losses are logarithms of means over the noise, which few rows make too small on average. The jackknife removes this
/// bias of order 1/m from each anchor's value (Quenouille, 1956): θ − (1 − m/M)·(G − 1)·(mean of θ₍g₎ − θ).
///
/// Chance that is common to anchor and noise is counted in both terms, so that the standard error is rather too large.
/// It is that of the draw alone: 0 if all rows are compared, however few they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Value of each anchor that was drawn.
    pub of_anchors: Vec<f64>,
    /// Mean over the anchors.
    pub mean: f64,
    /// Standard error of the mean as that of all anchors and all noise; 0 if all are compared.
    pub standard_error: f64,
}

/// What a random subset leaves out, and terms without each group of its rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LeftOut {
    /// Share of the anchors.
    anchors: f64,
    /// Shares of the old and of the new rows.
    noise: [f64; 2],
    /// log E f over old and over new noise without the first group of each anchor, then without the second one, …
    log_noise_without: [Vec<f64>; 2],
    /// Ranks in the same order.
    ranks_without: Vec<Rank>,
}

impl LeftOut {
    pub(super) fn new(anchors: f64, noise: [f64; 2], of_anchors: &[AnchorMeasured]) -> Self {
        Self {
            anchors,
            noise,
            log_noise_without: [0, 1]
                .map(|part| by_group(of_anchors, |it| &it.log_noise_without[part])),
            ranks_without: by_group(of_anchors, |it| &it.ranks_without),
        }
    }
}

/// Returns the values of all anchors by group, where each anchor has them.
fn by_group<T: Copy>(
    of_anchors: &[AnchorMeasured],
    values: impl Fn(&AnchorMeasured) -> &Vec<T>,
) -> Vec<T> {
    let n_groups = of_anchors.first().map_or(0, |it| values(it).len());
    let groups = 0..n_groups;
    groups
        .flat_map(|group| of_anchors.iter().map(move |it| (group, it)))
        .map(|(group, it)| values(it)[group])
        .collect()
}

impl AnchorDrift {
    /// Returns whether a random subset of the anchors or of the noise was compared.
    pub fn is_of_subset(&self) -> bool {
        self.left_out.anchors > 0.0 || self.left_out.noise != [0.0; 2]
    }

    /// Estimates means over all anchors of quantities that are functions of an anchor's terms. `quantities` returns
    /// lists with a value for each of the terms that it gets.
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

/// Jackknife of one part of the noise.
pub(super) struct Jackknife {
    /// Mean over the groups of each anchor's value without a group; empty if no row is left out of the subset.
    means: Vec<f64>,
    left_out: f64,
    /// Variance of the mean over the anchors by the draw of these rows.
    pub(super) variance: f64,
}

impl Jackknife {
    /// Creates it of the values of all anchors, and of those without the first group, without the second one, …
    pub(super) fn of(values: &[f64], without: &[f64], left_out: f64) -> Self {
        let n = values.len();
        let mut means = vec![0.0; if without.is_empty() { 0 } else { n }];
        let mut of_groups = Vec::with_capacity(N_GROUPS);
        for of_group in without.chunks_exact(n) {
            means
                .iter_mut()
                .zip(of_group)
                .for_each(|(sum, x)| *sum += x / N_GROUPS as f64);
            of_groups.push(of_group.iter().sum::<f64>() / n as f64);
        }
        let mean = of_groups.iter().sum::<f64>() / N_GROUPS as f64;
        let squares = of_groups.iter().map(|it| (it - mean).powi(2)).sum::<f64>();
        Self {
            means,
            left_out,
            variance: left_out * (N_GROUPS - 1) as f64 / N_GROUPS as f64 * squares,
        }
    }

    fn bias_of(&self, anchor: usize, value: f64) -> f64 {
        let mean = self.means.get(anchor).copied();
        mean.map_or(0.0, |mean| {
            self.left_out * (N_GROUPS - 1) as f64 * (mean - value)
        })
    }
}
