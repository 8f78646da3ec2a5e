//! The terms of the losses of one anchor, without its self-pairs.

use std::ops::Range;

use super::data::{AnchorGroup, DriftData};
use super::directions::dot;
use crate::negatives::Rank;
use crate::{Error, Origin};

/// Difference of cosines up to which they are a tie, as in [`ranks_among`](crate::ranks_among).
const TIE: f64 = 1e-6;
/// Number of groups of the rows of a random subset, each of which is left out once: standard errors have as many
/// degrees of freedom less one.
pub(super) const N_GROUPS: usize = 32;

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
    /// log E f over the noise of the anchor's own origin without the row that is most similar to the anchor, which may
    /// be the anchor's sample in other numbers; −∞ if there is no other row. `None` if a row of the noise is the
    /// anchor's own.
    pub log_noise_without_closest: Option<f64>,
    /// Rank of the positive among the noise, old and new, without self-pairs; in a random subset among rows of either
    /// origin in proportion to all of theirs.
    pub rank: Rank,
}

/// Terms of an anchor, and where the noise is a random subset, the same without each of [`N_GROUPS`] groups of its
/// rows.
pub(super) struct AnchorMeasured {
    pub(super) terms: AnchorTerms,
    /// log E f over the old and over the new noise; empty for a part of which all rows are there.
    pub(super) log_noise_without: [Vec<f64>; 2],
    /// Ranks; empty if all rows of the noise are there.
    pub(super) ranks_without: Vec<Rank>,
}

impl AnchorMeasured {
    /// Computes the terms of an anchor of a group.
    ///
    /// # Errors
    /// [`Error`] if of the rows of a random subset too few differ from the anchor and its positive.
    ///
    /// # Panics
    /// If the anchor has no noise of one origin but itself, and this is no random subset.
    pub(super) fn of(
        data: &DriftData,
        group: &AnchorGroup,
        anchor: usize,
        temperature: f64,
    ) -> Result<Self, Error> {
        let parts = [0..data.n_old, data.n_old..data.noise.n()]
            .map(|rows| Part::of(data, group, anchor, rows));
        let mut log_noise_without = [Vec::new(), Vec::new()];
        for (at, word) in ["old", "new"].into_iter().enumerate() {
            if data.left_out[at] > 0.0 {
                let of_groups = parts[at].log_means_without(temperature);
                log_noise_without[at] = of_groups.ok_or_else(|| {
                    let place = format!("anchor {} (counted from 0)", group.places[anchor]);
                    let n = parts[at].cosines.len();
                    let found = format!(
                        "{n} drawn rows of {word} noise that differ from it and from its positive"
                    );
                    Error::new(
                        place,
                        found,
                        "at least 2, in two groups of the jackknife: compare more rows, or all",
                    )
                })?;
            }
        }
        let positive = dot(group.anchors.row(anchor), group.positives.row(anchor));
        let of_groups = ranks_of_groups(&parts, data.n_ranked(), positive);
        let rank = |without: Option<usize>| {
            let mut counts = [0; 3];
            let kept = (0..N_GROUPS).filter(|it| Some(*it) != without);
            for of_group in kept.map(|it| of_groups[it]) {
                counts
                    .iter_mut()
                    .zip(of_group)
                    .for_each(|(sum, n)| *sum += n);
            }
            let [below, tied, above] = counts;
            Rank { below, tied, above }
        };
        let is_subset = data.left_out != [0.0; 2];
        let of_own_origin = &parts[usize::from(group.origin == Origin::New)].cosines;
        let terms = AnchorTerms {
            positive: positive / temperature,
            log_noise_old: log_mean(&parts[0].cosines, temperature),
            log_noise_new: log_mean(&parts[1].cosines, temperature),
            log_noise_without_closest: group.is_unpaired[anchor]
                .then(|| log_mean_without_largest(of_own_origin, temperature)),
            rank: rank(None),
        };
        Ok(Self {
            terms,
            log_noise_without,
            ranks_without: match is_subset {
                true => (0..N_GROUPS).map(|group| rank(Some(group))).collect(),
                false => Vec::new(),
            },
        })
    }
}

/// Noise of one origin, without the self-pairs of an anchor.
struct Part {
    /// Place of each row among all of this origin, ascending.
    places: Vec<usize>,
    cosines: Vec<f64>,
}

impl Part {
    fn of(data: &DriftData, group: &AnchorGroup, anchor: usize, rows: Range<usize>) -> Self {
        let direction = group.anchors.row(anchor);
        let first = rows.start;
        let is_self = |row: &usize| group.self_pairs[anchor].holds(data.equal.class_of(*row));
        let others = rows.filter(|row| !is_self(row));
        let (places, cosines) = others
            .map(|row| (row - first, dot(direction, data.noise.row(row))))
            .unzip();
        Self { places, cosines }
    }

    /// Returns log mean exp(cosine/τ) without each group, `None` if one of them has all rows.
    fn log_means_without(&self, temperature: f64) -> Option<Vec<f64>> {
        let mut groups = vec![Vec::new(); N_GROUPS];
        for (place, cosine) in self.places.iter().zip(&self.cosines) {
            groups[place % N_GROUPS].push(*cosine);
        }
        let log_sum = |of: &Vec<f64>| match of.is_empty() {
            true => f64::NEG_INFINITY,
            false => log_mean(of, temperature) + (of.len() as f64).ln(),
        };
        let log_sums: Vec<f64> = groups.iter().map(log_sum).collect();
        let without = |left_out: usize| {
            let n = self.cosines.len() - groups[left_out].len();
            let others = || {
                (0..N_GROUPS)
                    .filter(move |it| *it != left_out)
                    .map(|it| log_sums[it])
            };
            // The largest first, since a temperature near 0 makes sums that a double does not hold.
            let largest = others().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = others().map(|it| (it - largest).exp()).sum();
            (n > 0).then(|| largest + (sum / n as f64).ln())
        };
        (0..N_GROUPS).map(without).collect()
    }
}

/// Returns the numbers of rows below, as high as, and above a positive in each group, among the first rows of both
/// parts.
fn ranks_of_groups(
    parts: &[Part; 2],
    n_ranked: [usize; 2],
    of_positive: f64,
) -> [[usize; 3]; N_GROUPS] {
    let mut counts = [[0; 3]; N_GROUPS];
    for (at, part) in parts.iter().enumerate() {
        // New rows continue the numbers of old ones, so that the groups have equal numbers of rows, up to one.
        let first = at * n_ranked[0];
        let rows = part.places.iter().zip(&part.cosines);
        for (place, cosine) in rows.take_while(|(place, _)| **place < n_ranked[at]) {
            let side = match cosine {
                it if *it < of_positive - TIE => 0,
                it if *it > of_positive + TIE => 2,
                _ => 1,
            };
            counts[(first + place) % N_GROUPS][side] += 1;
        }
    }
    counts
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
        // Table 2, inference on X, with Eq. (27) for the noise p(X′)
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
