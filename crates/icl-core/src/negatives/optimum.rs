//! The number of negatives at which a training is most effective.

use std::ops::RangeInclusive;

use crate::Error;
use crate::negatives::effectiveness::Shares;
use crate::negatives::normal::cumulative;
use crate::negatives::reliability::points;

/// Largest number of negatives that is searched: 100,000.
pub const MAX_K: usize = 100_000;

/// Loss of effectiveness that counts as none.
pub const FLAT: f64 = 1e-3;

/// Returns the separations of the predictions during a simulated training: μ(1 − e^{−t}) at the midpoints of 120 parts
/// of [0, `end`] (Fig. 4, where `end` = 3).
pub fn course(separation: f64, end: f64) -> Vec<f64> {
    const N: i32 = 120;
    let t = |part: i32| (f64::from(part) + 0.5) * end / f64::from(N);
    (0..N)
        .map(|part| separation * (1.0 - (-t(part)).exp()))
        .collect()
}

/// Returns the training effectiveness at K = 1, 2, …, `max_k` (Eq. 6, mean over the training).
///
/// ```text
/// v(K) = mean over t of λ(G − B) + (1 − λ)E,   with P(A) = P(label, K) and P(Bₜ) = P(predictionsₜ, K)
/// ```
///
/// v is affine in P(B), so that the mean over the training is that of P(B) alone. One K after the other takes one
/// multiplication for each prediction and point of the quadrature.
///
/// # Errors
/// [`Error`] if a separation is not finite or there is no prediction, λ is not from 0 to 1, or `max_k` is 0 or above
/// [`MAX_K`].
pub fn effectiveness_by_k(
    label: f64,
    predictions: &[f64],
    lambda: f64,
    max_k: usize,
) -> Result<Vec<f64>, Error> {
    if !(0.0..=1.0).contains(&lambda) {
        return Err(Error::new("lambda", lambda, "a number from 0 to 1"));
    }
    let probabilities = probabilities_by_k(label, predictions, max_k)?;
    let value =
        |[label, prediction]: [f64; 2]| Shares::new(label, prediction).effectiveness(lambda);
    Ok(probabilities.into_iter().map(value).collect())
}

/// Returns the probabilities at K = 1, 2, …, `max_k`: P(A) that a label is reliable, and the mean of P(B) over the
/// training, that a prediction is right.
///
/// # Errors
/// [`Error`] if a separation is not finite or there is no prediction, or `max_k` is 0 or above [`MAX_K`].
pub fn probabilities_by_k(
    label: f64,
    predictions: &[f64],
    max_k: usize,
) -> Result<Vec<[f64; 2]>, Error> {
    if !(1..=MAX_K).contains(&max_k) {
        return Err(Error::new(
            "largest K",
            max_k,
            format!("a number from 1 to {MAX_K}"),
        ));
    }
    let labels = mean_reliabilities(&[label], max_k)?;
    let predictions = mean_reliabilities(predictions, max_k)?;
    let pairs = labels.into_iter().zip(predictions);
    Ok(pairs
        .map(|(label, prediction)| [label, prediction])
        .collect())
}

/// Returns the mean of P(μ, K) over some separations at K = 1, 2, …, `max_k`.
fn mean_reliabilities(separations: &[f64], max_k: usize) -> Result<Vec<f64>, Error> {
    let unfit = |found| Error::new("separation", found, "at least one finite number");
    if separations.is_empty() {
        return Err(unfit(f64::NAN));
    }
    if let Some(&found) = separations.iter().find(|it| !it.is_finite()) {
        return Err(unfit(found));
    }
    let mut sums = vec![0.0; max_k];
    // One separation after the other, so that its points stay in the cache and memory does not grow with the
    // separations.
    for mu in separations {
        // Φ(z + μ) of each point, and φ(z)Φ(z + μ)^K.
        let of_point = |(z, weight): (f64, f64)| (cumulative(z + mu), weight);
        let mut powers: Vec<(f64, f64)> = points().map(of_point).collect();
        for sum in &mut sums {
            for (factor, power) in &mut powers {
                *power *= *factor;
                *sum += *power;
            }
        }
    }
    let n = separations.len() as f64;
    Ok(sums.into_iter().map(|sum| sum / n).collect())
}

/// The number of negatives with the largest effectiveness.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// Number K* of negatives: the smallest one with the largest effectiveness.
    pub k: usize,
    /// Effectiveness at K*.
    pub effectiveness: f64,
    /// The numbers around K* whose effectiveness is within [`FLAT`] of it: none of them differs from K* by more than
    /// that.
    pub flat: RangeInclusive<usize>,
    /// Whether K* is the largest number that was searched, so that a larger one might be better.
    pub is_at_bound: bool,
}

impl Optimum {
    /// Finds the optimum of the effectiveness at K = 1, 2, …; `None` if there is no value.
    pub fn of(values: &[f64]) -> Option<Self> {
        let best = (0..values.len()).reduce(|best, at| match values[at] > values[best] {
            true => at,
            false => best,
        })?;
        let is_flat = |at: &usize| values[*at] >= values[best] - FLAT;
        let low = (0..=best).rev().take_while(is_flat).last()?;
        let high = (best..values.len()).take_while(is_flat).last()?;
        Some(Self {
            k: best + 1,
            effectiveness: values[best],
            flat: low + 1..=high + 1,
            is_at_bound: best + 1 == values.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::negatives::reliability::reliability;

    #[test]
    fn each_k_has_its_own_probability() {
        let predictions = [0.0, 0.5, 0.9];
        let values = effectiveness_by_k(1.0, &predictions, 0.9, 200).unwrap();
        for k in [1, 2, 17, 200] {
            let p = |mu| reliability(mu, k as f64);
            let mean = predictions.map(p).iter().sum::<f64>() / 3.0;
            let expected = Shares::new(p(1.0), mean).effectiveness(0.9);
            assert!((values[k - 1] - expected).abs() < 1e-13, "{k}");
        }
    }

    #[test]
    fn the_smallest_of_equal_numbers_is_the_optimum() {
        let optimum = Optimum::of(&[0.1, 0.5, 0.4995, 0.5, 0.3, 0.5]).unwrap();
        assert_eq!((optimum.k, optimum.flat), (2, 2..=4));
        assert!(!optimum.is_at_bound);
        let rising = Optimum::of(&[0.1, 0.2, 0.3]).unwrap();
        assert!(rising.is_at_bound && rising.flat == (3..=3));
        assert_eq!(Optimum::of(&[]), None);
    }

    /// At λ < 1 and a small separation, "both wrong" counts as easy: the measure tends to 1 − λ from below, and its
    /// largest value lies at the bound. At λ = 1 there is no such optimum.
    #[test]
    fn few_negatives_suit_labels_that_say_little() {
        let optimum = |lambda| {
            let values = effectiveness_by_k(0.1, &course(0.1, 3.0), lambda, 3000).unwrap();
            Optimum::of(&values).unwrap()
        };
        let published = optimum(0.9);
        assert!(published.is_at_bound && (published.effectiveness - 0.1).abs() < 1e-4);
        assert_eq!(optimum(1.0).k, 2);
    }

    #[test]
    fn numbers_that_are_rejected() {
        let by_k = effectiveness_by_k;
        let of_lambda = |found| Err(Error::new("lambda", found, "a number from 0 to 1"));
        assert_eq!(by_k(1.0, &[0.5], 1.5, 9), of_lambda(1.5));
        assert!(by_k(1.0, &[0.5], f64::NAN, 9).is_err());
        for found in [0, MAX_K + 1] {
            let error = Error::new("largest K", found, format!("a number from 1 to {MAX_K}"));
            assert_eq!(by_k(1.0, &[0.5], 1.0, found), Err(error));
        }
        assert!(by_k(f64::INFINITY, &[0.5], 1.0, 9).is_err());
        assert!(by_k(1.0, &[], 1.0, 9).is_err());
        assert!(by_k(1.0, &[0.5, f64::NAN], 1.0, 9).is_err());
    }
}
