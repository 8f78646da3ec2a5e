//! The probability that a positive has the highest score.

use std::f64::consts::SQRT_2;

use crate::Error;
use crate::negatives::normal::{cumulative, density, ln_cumulative, quantile};

/// Distance of two points of the quadrature.
const STEP: f64 = 1.0 / 16.0;
/// Number of points on each side of 0: from -12 to 12.
const N_POINTS: i32 = 192;

/// Returns the points of the trapezoidal rule on [-12, 12], each with its density times the step.
///
/// For analytic integrands that vanish at the ends, the rule converges faster than any power of the step; here its
/// error is below 1e-11.
pub(super) fn points() -> impl Iterator<Item = (f64, f64)> {
    (-N_POINTS..=N_POINTS).map(|i| {
        let z = f64::from(i) * STEP;
        (z, density(z) * STEP)
    })
}

/// Returns the probability P(μ, K) that the score of a positive, from N(μ, 1), is above those of K negatives, from
/// N(0, 1) (Eq. 3 and 4).
///
/// ```text
/// P(μ, K) = ∫ φ(z) Φ(z + μ)^K dz
/// P(0, K) = 1/(K + 1),   P(μ, 0) = 1,   P(μ, 1) = Φ(μ/√2)
/// ```
///
/// With the separation of the labels it is P(A), that a label is reliable; with that of the predictions P(B), that a
/// prediction is right. K may be any real number from 0 on. Not a number if μ is none, or K is below 0.
///
/// ```
/// use icl_core::negatives::reliability;
///
/// assert!((reliability(0.0, 4.0) - 0.2).abs() < 1e-11);
/// assert!((reliability(1.0, 4.0) - 0.493_698_862).abs() < 1e-9);
/// ```
pub fn reliability(separation: f64, k: f64) -> f64 {
    if k.is_nan() || k < 0.0 {
        return f64::NAN;
    }
    // Eq. (3) and (4) of Wu et al. (2022), with the power as a logarithm: Φ is rounded to 1 where a large K still
    // counts.
    let term = |(z, weight): (f64, f64)| weight * (k * ln_cumulative(z + separation)).exp();
    points().map(term).sum()
}

/// Returns the separation μ between the scores of positives and negatives whose AUC is given (Eq. 7).
///
/// ```text
/// μ = √2 Φ⁻¹(AUC)
/// ```
///
/// The paper finds it by bisection and says that there is no closed form; the difference of two scores is normal with
/// variance 2, which gives one. Below an AUC of ½ it is negative.
///
/// # Errors
/// [`Error`] unless the AUC is above 0 and below 1.
pub fn separation(auc: f64) -> Result<f64, Error> {
    match auc > 0.0 && auc < 1.0 {
        // Eq. (7) of Wu et al. (2022), solved for μ
        true => Ok(SQRT_2 * quantile(auc)),
        false => Err(Error::new("AUC", auc, "a number above 0 and below 1")),
    }
}

/// Returns the AUC of a separation: Φ(μ/√2) (Eq. 7).
pub fn auc(separation: f64) -> f64 {
    cumulative(separation / SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits() {
        for k in [0.0, 0.5, 1.0, 3.0, 20.0, 1e3] {
            assert!((reliability(0.0, k) - 1.0 / (k + 1.0)).abs() < 1e-11, "{k}");
        }
        for mu in [-2.0, 0.0, 0.3, 1.0, 2.4, 4.0] {
            assert!((reliability(mu, 0.0) - 1.0).abs() < 1e-12, "{mu}");
            assert!((reliability(mu, 1.0) - auc(mu)).abs() < 1e-11, "{mu}");
        }
        assert!(reliability(1.0, 1e12) < 1e-6);
        assert!(reliability(1.0, -1.0).is_nan() && reliability(f64::NAN, 1.0).is_nan());
    }

    #[test]
    fn it_falls_with_k_and_rises_with_the_separation() {
        let ks = [0.5, 1.0, 1.5, 2.0, 7.0, 64.0];
        for pair in ks.windows(2) {
            assert!(reliability(1.0, pair[0]) > reliability(1.0, pair[1]));
            assert!(reliability(1.0, pair[1]) < reliability(1.1, pair[1]));
            // Convex in K as a logarithm, so that a real K lies below the line between its neighbours.
            let between = (pair[0] + pair[1]) / 2.0;
            let ends = pair.iter().map(|&k| reliability(1.0, k).ln()).sum::<f64>() / 2.0;
            assert!(reliability(1.0, between).ln() <= ends);
        }
    }

    #[test]
    fn an_auc_gives_its_separation() {
        for value in [1e-9, 0.1, 0.5, 0.75, 0.95, 0.999_999] {
            let back = auc(separation(value).unwrap());
            assert!((back / value - 1.0).abs() < 1e-13, "{value}");
        }
        for found in [0.0, 1.0, -0.1, 1.5, f64::INFINITY] {
            assert_eq!(
                separation(found),
                Err(Error::new("AUC", found, "a number above 0 and below 1"))
            );
        }
        assert!(separation(f64::NAN).is_err());
    }
}
