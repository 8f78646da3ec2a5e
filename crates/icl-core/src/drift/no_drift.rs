//! The distribution of the statistic without drift.

/// Share of the distribution below its quantile.
const SHARE: f64 = 0.95;
/// Difference of statistics up to which they are equal: the same partition is summed in another order.
const ROUNDING: f64 = 1e-12;

/// Distribution of the absolute statistic without drift, from relabellings of the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoDrift {
    /// The ⌈0.95·(B + 1)⌉-th smallest of B absolute values, in nats.
    pub q95: f64,
    /// Mean of the absolute values, in nats.
    pub mean: f64,
    /// Number of relabellings B.
    pub n_relabellings: usize,
    /// Share of relabellings, the data themselves counted as one, whose absolute statistic is at least that of the
    /// data: (1 + #{|s_b| ≥ |s|})/(B + 1).
    pub p_value: f64,
}

impl NoDrift {
    /// Summarises the statistics of relabellings next to that of the data.
    pub(super) fn of(statistic: f64, relabelled: &[f64]) -> Self {
        let n = relabelled.len();
        let mut sizes: Vec<f64> = relabelled.iter().map(|it| it.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        // At least 39 relabellings (`DriftTestConfig`), so that the place is among them.
        let place = (SHARE * (n + 1) as f64).ceil() as usize;
        Self {
            q95: sizes[place - 1],
            mean: sizes.iter().sum::<f64>() / n as f64,
            n_relabellings: n,
            p_value: p_value(statistic.abs(), &sizes),
        }
    }
}

/// Returns the p-value of a permutation test: the share of relabellings, the data themselves counted as one, whose
/// value is at least `found`.
pub(super) fn p_value(found: f64, relabelled: &[f64]) -> f64 {
    let at_least = |it: &&f64| **it >= found - ROUNDING;
    let n_at_least = relabelled.iter().filter(at_least).count();
    (1 + n_at_least) as f64 / (relabelled.len() + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantile_is_that_of_the_permutation_test() {
        let values: Vec<f64> = (1..=199)
            .map(|i| f64::from(i) * [-1.0, 1.0][i as usize % 2])
            .collect();
        let found = NoDrift::of(-190.5, &values);
        // ⌈0.95·200⌉ = 190; nine values and the data themselves are beyond 190.5.
        assert_eq!(
            (found.q95, found.mean, found.n_relabellings),
            (190.0, 100.0, 199)
        );
        assert_eq!(found.p_value, 10.0 / 200.0);
        assert_eq!(NoDrift::of(0.0, &[0.0; 19]).p_value, 1.0);
    }
}
