//! Estimates of means over all anchors and all noise from a random subset of them.

use super::terms::{AnchorMeasured, N_GROUPS};
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

/// Shares of rows that a random subset leaves out, and terms without each group of its rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LeftOut {
    /// Share of the anchors.
    pub(super) anchors: f64,
    /// Shares of the old and of the new rows.
    pub(super) noise: [f64; 2],
    /// log E f over old and over new noise without the first group of each anchor, then without the second one, …
    pub(super) log_noise_without: [Vec<f64>; 2],
    /// Ranks in the same order.
    pub(super) ranks_without: Vec<Rank>,
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

    /// Returns the bias of order 1/m of an anchor's value.
    pub(super) fn bias_of(&self, anchor: usize, value: f64) -> f64 {
        let mean = self.means.get(anchor).copied();
        mean.map_or(0.0, |mean| {
            self.left_out * (N_GROUPS - 1) as f64 * (mean - value)
        })
    }
}
