//! Effectiveness of a step with K negatives.

/// Shares of three kinds of samples in a step (Eq. 5).
///
/// ```text
/// good  G = P(A)(1 − P(B))   reliable label, wrong prediction: the step teaches
/// bad   B = P(B)(1 − P(A))   unreliable label, right prediction: it misleads
/// easy  E = 1 − G − B        the rest
/// ```
///
/// This takes label and prediction as independent, as the paper does. G − B = P(A) − P(B) holds without it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// Share G of good samples.
    pub good: f64,
    /// Share B of bad samples.
    pub bad: f64,
    /// Share E of easy samples.
    pub easy: f64,
}

impl Shares {
    /// Calculates the shares from the probability P(A) that a label is reliable, and P(B) that a prediction is right.
    pub fn new(label: f64, prediction: f64) -> Self {
        // Eq. (5) of Wu et al. (2022)
        let (good, bad) = (label * (1.0 - prediction), prediction * (1.0 - label));
        Self {
            good,
            bad,
            easy: 1.0 - good - bad,
        }
    }

    /// Returns the training effectiveness (Eq. 6).
    ///
    /// ```text
    /// v = λ(G − B) + (1 − λ)E
    /// ```
    ///
    /// The paper takes λ = 0.9. At λ = 1 it is P(A) − P(B): it needs no independence, and it tends to 0 for large K,
    /// where v tends to 1 − λ because labels and predictions that are both wrong count as easy.
    pub fn effectiveness(&self, lambda: f64) -> f64 {
        // Eq. (6) of Wu et al. (2022)
        lambda * (self.good - self.bad) + (1.0 - lambda) * self.easy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_sum_to_one_and_differ_by_the_probabilities() {
        for (a, b) in [(0.0, 0.0), (1.0, 0.0), (0.7, 0.4), (0.2, 0.9)] {
            let shares = Shares::new(a, b);
            assert!((shares.good + shares.bad + shares.easy - 1.0).abs() < 1e-15);
            assert!((shares.effectiveness(1.0) - (a - b)).abs() < 1e-15);
            let printed = 0.9 * (a - b) + 0.1 * (1.0 - a - b + 2.0 * a * b);
            assert!((shares.effectiveness(0.9) - printed).abs() < 1e-15);
        }
    }
}
