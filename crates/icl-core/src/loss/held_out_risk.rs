//! The risk over held-out samples, which no training has seen.

use burn::tensor::{Tensor, backend::Backend};
use serde::{Deserialize, Serialize};

use super::exact_risk::{exact_losses, exact_nce_i_rows_of_group, weighted_mean};
use crate::{ByOrigin, Error, Group, host_values};

/// Exact risk R(θ; P) over held-out old and new samples P, in nats, with its standard error.
///
/// The loss of a sample is L^{I,X′} with the noise expectation over all pairs of P, so that an
/// evaluation costs the same however large the data are. P has a noise of its own: its risk is
/// compared between encoders on the same P, not with the risk over other samples.
///
/// It is serialised as a map with the keys `all`, `old`, `new` and `standard_error`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HeldOutRisk<T = f64> {
    /// Mean loss over the samples.
    #[serde(flatten)]
    pub mean: ByOrigin<T>,
    /// Standard error of each mean: sd/√n, with the sample standard deviation (division by n − 1) of the losses. Where
    /// old samples count w times, that of the weighted mean. The noise that the losses share is treated as constant.
    pub standard_error: ByOrigin<T>,
}

/// Computes the risk over the embeddings of held-out samples: `anchors` and `positives` `[n, d]`, of which the first
/// `n_old` rows are old data. The members of `group` share the rows, and all have all embeddings and the risk.
///
/// `negatives` is K. K and τ must be above 0, which is not checked.
///
/// # Errors
/// [`Error`] of the kind [`Left`](crate::ErrorKind::Left) if a member has left the group.
///
/// # Panics
/// If the shapes differ or there are fewer than 2 old or 2 new rows.
pub fn held_out_risk<B: Backend>(
    group: &dyn Group,
    anchors: Tensor<B, 2>,
    positives: Tensor<B, 2>,
    n_old: usize,
    temperature: f64,
    negatives: f64,
) -> Result<HeldOutRisk, Error> {
    let counted = (n_old, 1.0);
    let risk =
        held_out_risk_with_losses(group, anchors, positives, counted, temperature, negatives);
    risk.map(|(risk, _)| risk)
}

/// Computes the risk of [`held_out_risk`], and the loss of each sample, whose means are the risk. Losses of two
/// encoders on the same samples and views can be compared pair by pair. `n_old` also has the weight w of an old row, as
/// in [`exact_risk_of_group`](crate::exact_risk_of_group).
///
/// # Errors
/// [`Error`] of the kind [`Left`](crate::ErrorKind::Left) if a member has left the group.
///
/// # Panics
/// As [`held_out_risk`].
pub fn held_out_risk_with_losses<B: Backend>(
    group: &dyn Group,
    anchors: Tensor<B, 2>,
    positives: Tensor<B, 2>,
    n_old: (usize, f64),
    temperature: f64,
    negatives: f64,
) -> Result<(HeldOutRisk, Vec<f64>), Error> {
    let pairs = [anchors, positives];
    let (losses, _, _) = exact_losses(group, pairs, n_old, temperature, negatives)?;
    let losses = host_values(losses.all);
    let (old, new) = losses.split_at(n_old.0);
    let parts = ByOrigin {
        all: (&losses[..], n_old),
        old: (old, (0, 1.0)),
        new: (new, (0, 1.0)),
    };
    let risk = HeldOutRisk {
        mean: parts.map(|(losses, n_old)| weighted_mean(losses, n_old)),
        standard_error: parts.map(|(losses, n_old)| standard_error(losses, n_old)),
    };
    Ok((risk, losses))
}

/// Computes the risk over held-out samples of one population, before any new data arrive: the mean of NCE-I, as
/// [`exact_nce_i`](crate::exact_nce_i). It is the value for all and for old samples; that for new samples is `None`.
/// The members of `group` share the rows, and all have all embeddings and the risk.
///
/// `negatives` is K. K and τ must be above 0, which is not checked.
///
/// # Errors
/// [`Error`] of the kind [`Left`](crate::ErrorKind::Left) if a member has left the group.
///
/// # Panics
/// If the shapes differ or n < 2.
pub fn held_out_nce_i<B: Backend>(
    group: &dyn Group,
    anchors: Tensor<B, 2>,
    positives: Tensor<B, 2>,
    temperature: f64,
    negatives: f64,
) -> Result<HeldOutRisk<Option<f64>>, Error> {
    let rows = exact_nce_i_rows_of_group(group, anchors, positives, temperature, negatives)?;
    let losses = rows.losses;
    let of_old = |of: f64| ByOrigin {
        all: Some(of),
        old: Some(of),
        new: None,
    };
    Ok(HeldOutRisk {
        mean: of_old(weighted_mean(&losses, (0, 1.0))),
        standard_error: of_old(standard_error(&losses, (0, 1.0))),
    })
}

/// Returns the standard error of a [`weighted_mean`], √(n/(n−1)·Σ w²·(L − mean)²) / Σ w; without weights sd/√n.
fn standard_error(of: &[f64], (n_old, old_weight): (usize, f64)) -> f64 {
    let (n, mean) = (of.len() as f64, weighted_mean(of, (n_old, old_weight)));
    let weight = |at: usize| if at < n_old { old_weight } else { 1.0 };
    let deviations = of.iter().enumerate();
    let squares: f64 = deviations
        .map(|(at, loss)| (weight(at) * (loss - mean)).powi(2))
        .sum();
    let of_weights = n / (old_weight * n_old as f64 + n - n_old as f64);
    (squares / (n - 1.0) / n).sqrt() * of_weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestBackend, assert_close};
    use crate::{Alone, Seed};
    use rand::RngExt;

    #[test]
    fn it_is_the_mean_of_the_losses_with_their_standard_error() {
        assert_is_mean_of_losses(1);
    }

    #[test]
    fn an_old_sample_counts_as_often_as_it_stands_for() {
        assert_is_mean_of_losses(6);
    }

    /// A double loop over the definition, Eq. 2 with the noise of Eq. 27. Each old sample stands for `weight`.
    fn assert_is_mean_of_losses(weight: usize) {
        let (n, n_old, d, temperature, negatives) = (9, 5, 3, 0.4, 7.0);
        let mut rng = Seed::new(4).rng();
        let mut draw = || -> Vec<f64> { (0..n * d).map(|_| rng.random_range(-1.0..1.0)).collect() };
        let (a, b) = (draw(), draw());
        let similarity = |i: usize, j: usize| {
            let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
            let (x, y) = (&a[i * d..][..d], &b[j * d..][..d]);
            (dot(x, y) / (dot(x, x) * dot(y, y)).sqrt() / temperature).exp()
        };
        let losses: Vec<f64> = (0..n)
            .map(|i| {
                let expectation = |columns: std::ops::Range<usize>| {
                    let others: Vec<f64> = columns
                        .filter(|&j| j != i)
                        .map(|j| similarity(i, j))
                        .collect();
                    others.iter().sum::<f64>() / others.len() as f64
                };
                let alpha = (n - n_old) as f64 / (weight * n_old + n - n_old) as f64;
                let noise = (1.0 - alpha) * expectation(0..n_old) + alpha * expectation(n_old..n);
                let positive = similarity(i, i);
                -(positive / (positive + negatives * noise)).ln()
            })
            .collect();
        let device = Default::default();
        let tensor = |values: &[f64]| {
            let values = burn::tensor::TensorData::new(values.to_vec(), [n, d]);
            Tensor::<TestBackend, 2>::from_data(values.convert::<f32>(), &device)
        };
        let (found, found_losses) = held_out_risk_with_losses(
            &Alone,
            tensor(&a),
            tensor(&b),
            (n_old, weight as f64),
            temperature,
            negatives,
        )
        .unwrap();
        assert_close(&found_losses, &losses, 1e-5);
        let expected = |of: &[f64], weights: &[usize]| {
            let n = of.len() as f64;
            let total = weights.iter().sum::<usize>() as f64;
            let pairs = || of.iter().zip(weights);
            let mean = pairs().map(|(x, w)| x * *w as f64).sum::<f64>() / total;
            let squares: f64 = pairs()
                .map(|(x, w)| (*w * *w) as f64 * (x * x - 2.0 * x * mean + mean * mean))
                .sum();
            [mean, (squares * n / (n - 1.0)).sqrt() / total]
        };
        let weights = [vec![weight; n_old], vec![1; n - n_old]].concat();
        let parts = [
            (&losses[..], &weights[..]),
            (&losses[..n_old], &[1; 9][..n_old]),
            (&losses[n_old..], &[1; 9][n_old..]),
        ];
        let found = found
            .mean
            .as_array()
            .into_iter()
            .zip(found.standard_error.as_array());
        for ((mean, error), part) in found.zip(parts) {
            assert_close(&[*mean, *error], &expected(part.0, part.1), 1e-5);
        }
    }

    /// One population of which a part is called new has the same losses up to the noise's weights: with the
    /// parts of equal size all weights are equal but for the sample itself, so the oracle is a double loop.
    #[test]
    fn one_population_has_the_mean_of_its_losses() {
        let rows = [[1.0, 0.2], [-0.3, 0.8], [0.5, -0.9], [0.1, 0.4]];
        let positives = [[0.9, 0.1], [-0.1, 1.0], [0.6, -0.5], [-0.4, 0.3]];
        let (temperature, negatives) = (0.5, 3.0);
        let f = |x: &[f64; 2], y: &[f64; 2]| {
            let dot = |a: &[f64; 2], b: &[f64; 2]| a[0] * b[0] + a[1] * b[1];
            (dot(x, y) / (dot(x, x) * dot(y, y)).sqrt() / temperature).exp()
        };
        let losses: Vec<f64> = (0..4)
            .map(|i| {
                let noise: f64 = (0..4)
                    .filter(|&j| j != i)
                    .map(|j| f(&rows[i], &positives[j]))
                    .sum();
                let positive = f(&rows[i], &positives[i]);
                -(positive / (positive + negatives * noise / 3.0)).ln()
            })
            .collect();
        let mean = losses.iter().sum::<f64>() / 4.0;
        let squares: f64 = losses.iter().map(|loss| (loss - mean).powi(2)).sum();
        let device = Default::default();
        let tensor = |rows: [[f64; 2]; 4]| {
            Tensor::<TestBackend, 2>::from_data(
                burn::tensor::TensorData::from(rows).convert::<f32>(),
                &device,
            )
        };
        let found = held_out_nce_i(
            &Alone,
            tensor(rows),
            tensor(positives),
            temperature,
            negatives,
        )
        .unwrap();
        assert_eq!((found.mean.new, found.standard_error.new), (None, None));
        assert_eq!(found.mean.all, found.mean.old);
        let found = [found.mean.all.unwrap(), found.standard_error.old.unwrap()];
        assert_close(&found, &[mean, (squares / 12.0).sqrt()], 1e-5);
    }
}
