//! The terms of the losses of one anchor, without its self-pairs.

use super::data::{AnchorGroup, DriftData};
use super::directions::dot;
use crate::negatives::Rank;
use crate::{Error, Origin};

/// Difference of cosines up to which they are a tie, as in [`ranks_among`](crate::ranks_among).
const TIE: f64 = 1e-6;

/// Terms of the losses of one anchor, as logarithms, over the noise without its self-pairs.
///
/// ```text
/// positive       log f(xᵢ, xᵢ⁺) = sim(xᵢ, xᵢ⁺)/τ
/// log_noise_old  log E_{x⁻ ~ p(X)}  f(xᵢ, x⁻)
/// log_noise_new  log E_{x⁻ ~ p(ΔX)} f(xᵢ, x⁻)
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnchorTerms {
    /// log f(xᵢ, xᵢ⁺).
    pub positive: f64,
    /// log E_X f(xᵢ, x⁻).
    pub log_noise_old: f64,
    /// log E_ΔX f(xᵢ, x⁻).
    pub log_noise_new: f64,
    /// Mean of the noise of the anchor's own origin without the row that is most similar to it, as a logarithm (−∞
    /// without any other row); `None` if a row of the noise is known to be the anchor's. That row may be the anchor's
    /// sample in other numbers.
    pub log_noise_without_closest: Option<f64>,
    /// Number of rows of old noise that are the anchor or its positive.
    pub n_self_old: usize,
    /// Number of rows of new noise that are the anchor or its positive.
    pub n_self_new: usize,
    /// Rank of the positive among the noise, old and new, without self-pairs.
    pub rank: Rank,
}

impl AnchorTerms {
    /// Computes the terms of an anchor of a group.
    ///
    /// # Errors
    /// [`Error`] if the anchor has no noise of one origin but itself.
    pub(super) fn of(
        data: &DriftData,
        group: &AnchorGroup,
        anchor: usize,
        temperature: f64,
    ) -> Result<Self, Error> {
        let direction = group.anchors.row(anchor);
        let of_positive = dot(direction, group.positives.row(anchor));
        let is_self = |row: &usize| group.self_pairs[anchor].holds(data.equal.class_of(*row));
        let cosines = |rows: std::ops::Range<usize>, noise| {
            let others = rows.filter(|row| !is_self(row));
            let cosines: Vec<f64> = others
                .map(|row| dot(direction, data.noise.row(row)))
                .collect();
            match cosines.is_empty() {
                true => {
                    let word = match noise {
                        Origin::Old => "old",
                        Origin::New => "new",
                    };
                    let place = format!("anchor {anchor} (counted from 0)");
                    let found = format!("no {word} noise but rows equal to it or to its positive");
                    Err(Error::new(place, found, "at least one other row"))
                }
                false => Ok(cosines),
            }
        };
        let old = cosines(0..data.n_old, Origin::Old)?;
        let new = cosines(data.n_old..data.noise.n(), Origin::New)?;
        let of_own_origin = match group.origin {
            Origin::Old => &old,
            Origin::New => &new,
        };
        let is_unpaired = group.own_row[anchor].is_none();
        let both = || old.iter().chain(&new);
        let below = both().filter(|it| **it < of_positive - TIE).count();
        let above = both().filter(|it| **it > of_positive + TIE).count();
        Ok(Self {
            positive: of_positive / temperature,
            log_noise_old: log_mean(&old, temperature),
            log_noise_new: log_mean(&new, temperature),
            log_noise_without_closest: is_unpaired
                .then(|| log_mean_without_largest(of_own_origin, temperature)),
            n_self_old: data.n_old - old.len(),
            n_self_new: data.n_new() - new.len(),
            rank: Rank {
                below,
                tied: old.len() + new.len() - below - above,
                above,
            },
        })
    }
}

/// Returns log mean exp(cosine/τ).
fn log_mean(cosines: &[f64], temperature: f64) -> f64 {
    let largest = cosines.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    let sum: f64 = cosines
        .iter()
        .map(|cosine| ((cosine - largest) / temperature).exp())
        .sum();
    largest / temperature + (sum / cosines.len() as f64).ln()
}

/// Returns log mean exp(cosine/τ) without the largest cosine, −∞ if there is no other.
fn log_mean_without_largest(cosines: &[f64], temperature: f64) -> f64 {
    let mut others = cosines.to_vec();
    let places = 0..others.len();
    if let Some(largest) = places.max_by(|a, b| cosines[*a].total_cmp(&cosines[*b])) {
        others.swap_remove(largest);
    }
    match others.is_empty() {
        true => f64::NEG_INFINITY,
        false => log_mean(&others, temperature),
    }
}

/// Numbers of the formulas.
#[derive(Debug, Clone, Copy)]
pub(super) struct Formula {
    pub(super) log_negatives: f64,
    pub(super) alpha: f64,
}

impl Formula {
    /// Returns the bias of inference of an anchor, from logarithms of its terms:
    ///
    /// ```text
    /// L^{I,X} − L^{I,X′} = log(f⁺ + K·E_X f) − log(f⁺ + K·((1 − α)·E_X f + α·E_ΔX f))
    /// ```
    pub(super) fn bias(&self, positive: f64, log_old: f64, log_new: f64) -> f64 {
        let log_all = if self.alpha == 0.0 {
            log_old
        } else if self.alpha == 1.0 {
            log_new
        } else {
            log_sum(log_old + (-self.alpha).ln_1p(), log_new + self.alpha.ln())
        };
        let with = |log_noise: f64| log_sum(positive, self.log_negatives + log_noise);
        with(log_old) - with(log_all)
    }
}

/// Returns log(e^a + e^b).
fn log_sum(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    high + (low - high).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bias_is_that_of_the_printed_formula() {
        let (p, o, n, k, alpha) = (1.3_f64, 0.4_f64, 0.7_f64, 9.0_f64, 0.3);
        let formula = Formula {
            log_negatives: k.ln(),
            alpha,
        };
        let nce = |noise: f64| -(p / (p + k * noise)).ln();
        let expected = nce(o) - nce((1.0 - alpha) * o + alpha * n);
        assert!((formula.bias(p.ln(), o.ln(), n.ln()) - expected).abs() < 1e-14);
        let none = Formula {
            alpha: 0.0,
            ..formula
        };
        assert_eq!(none.bias(1.0, -2.0, 900.0), 0.0);
    }
}
