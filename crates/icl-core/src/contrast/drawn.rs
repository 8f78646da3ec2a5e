//! Noise that is drawn for each anchor: a subset of the noise samples instead of all of them.

use std::ops::Range;

use burn::tensor::{Bool, Tensor, TensorData, backend::Backend};
use icl_kernels::rows::{LeftOut, NEVER, log_sum_exp};
use rand::RngExt;
use rand::seq::index;
use rayon::prelude::*;

use super::similarity::normalize;
use super::terms::{Contrast, assert_paired, of_new, others, positive_logits, some};
use crate::Seed;

/// Numbers of noise samples that are drawn for the anchors of a batch, K on average (Wu et al., 2022, Eq. 8).
///
/// ```text
/// P(kᵢ = ⌊K⌋) = 1 − {K}        P(kᵢ = ⌊K⌋ + 1) = {K}                        (ANS, 8)
/// ```
///
/// Anchor i draws kᵢ noise samples uniformly, without replacement, and the expectation under the noise distribution is
/// estimated from them:
///
/// ```text
/// E f⁻ ≈ 1/K · Σ_{j ∈ 𝒩ᵢ} f(xᵢ, xⱼ)        |𝒩ᵢ| = kᵢ
/// ```
///
/// so that K·E f⁻ is the plain sum over the negatives of Eq. 1 there. The estimate has no bias, but the losses are
/// logarithms of it: on average they are smaller than those with all noise samples (Jensen). If there are only m < kᵢ
/// noise samples, all of them are used and the sum is multiplied by kᵢ/m.
///
/// ```
/// use icl_core::{Draws, Seed};
///
/// let draws = Draws::new(2.3, 1000, Seed::new(7));
/// assert!(draws.counts().iter().all(|&k| k == 2 || k == 3));
/// ```
#[derive(Debug, Clone)]
pub struct Draws {
    negatives: f64,
    counts: Vec<usize>,
    /// Row of the first anchor.
    first: usize,
    seed: Seed,
}

impl Draws {
    /// Draws the numbers of noise samples of `n_anchors` anchors. `negatives` is K, a finite number above 0. The same
    /// seed gives the same draws, on any number of threads.
    ///
    /// # Panics
    /// If K is not a finite number above 0.
    pub fn new(negatives: f64, n_anchors: usize, seed: Seed) -> Self {
        assert!(
            negatives.is_finite() && negatives > 0.0,
            "the number of negatives must be a finite number above 0, found {negatives}"
        );
        let (whole, fraction) = (negatives.floor(), negatives.fract());
        let mut rng = seed.child("counts").rng();
        // Eq. (8) of Wu et al. (2022)
        let count = |_| whole as usize + usize::from(rng.random::<f64>() < fraction);
        Self {
            negatives,
            counts: (0..n_anchors).map(count).collect(),
            first: 0,
            seed,
        }
    }

    /// Returns the draws of some of these anchors.
    fn of_rows(&self, rows: Range<usize>) -> Self {
        Self {
            counts: self.counts[rows.clone()].to_vec(),
            first: self.first + rows.start,
            ..*self
        }
    }

    /// Returns K, the mean number of noise samples of an anchor.
    pub fn negatives(&self) -> f64 {
        self.negatives
    }

    /// Returns the number of noise samples of each anchor.
    pub fn counts(&self) -> &[usize] {
        &self.counts
    }

    /// Asserts that these are the draws of `n` anchors.
    #[track_caller]
    fn assert_of(&self, n: usize) {
        assert_eq!(
            n,
            self.counts.len(),
            "the number of anchors (left) must be that of the draws (right)"
        );
    }

    /// Draws the noise of each anchor out of `n_columns` samples, without those that are `excluded` for it (sorted and
    /// distinct). `of` names the noise, so that two sets of one batch have draws of their own.
    fn choose<'e>(
        &self,
        n_columns: usize,
        of: &str,
        excluded: impl Fn(usize) -> &'e [u32] + Sync,
    ) -> Chosen {
        let seed = self.seed.child(of);
        let mut is_left_out = vec![true; self.counts.len() * n_columns];
        let rows = is_left_out.par_chunks_mut(n_columns.max(1));
        let log_factors = rows
            .zip(&self.counts)
            .enumerate()
            .map(|(row, (marks, &k))| {
                let excluded = excluded(row);
                let n_free = n_columns - excluded.len();
                // By the row in the whole batch: members that share the rows draw what one member with all of them
                // would.
                let mut rng = seed.at((self.first + row) as u64).rng();
                for place in index::sample(&mut rng, n_free, k.min(n_free)) {
                    marks[free_column(place, excluded)] = false;
                }
                // 1/K, times kᵢ/m where only m < kᵢ samples are free. The value of an anchor without noise is replaced
                // later; with 1 for its 0 samples the logarithm is finite.
                let n_taken = k.min(n_free).max(1);
                (k.max(1) as f64 / n_taken as f64 / self.negatives).ln()
            });
        let log_factors = log_factors.collect();
        let counts = self.counts.iter().enumerate();
        let has_none = counts.map(|(row, &k)| k == 0 || excluded(row).len() == n_columns);
        Chosen {
            log_factors,
            has_none: has_none.collect(),
            is_left_out,
        }
    }

    /// Returns the estimate of log E f⁻ over the noise rows `[m, d]` for each of the anchors `[n, d]`, both normalised.
    fn log_noise<'e, B: Backend>(
        &self,
        anchors: &Tensor<B, 2>,
        noise: Tensor<B, 2>,
        temperature: f64,
        of: &str,
        excluded: impl Fn(usize) -> &'e [u32] + Sync,
    ) -> Tensor<B, 1> {
        self.assert_of(anchors.dims()[0]);
        self.choose(noise.dims()[0], of, excluded)
            .log_mean(anchors, noise, temperature)
    }
}

/// Returns the `place`-th column that is not excluded, from 0 on.
fn free_column(place: usize, excluded: &[u32]) -> usize {
    let (mut low, mut high) = (0, excluded.len());
    // Before the excluded column e at position i there are e − i free ones.
    while low < high {
        let middle = (low + high) / 2;
        match excluded[middle] as usize - middle <= place {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    place + low
}

/// Noise samples that were chosen for each anchor.
struct Chosen {
    /// Whether a pair is left out, of `[n, m]`, row after row.
    is_left_out: Vec<bool>,
    /// Logarithm of the factor of each sum.
    log_factors: Vec<f64>,
    /// Whether an anchor has no noise.
    has_none: Vec<bool>,
}

impl Chosen {
    /// Returns the logarithm of the sum over the chosen noise of each anchor, times its factor: `[n]`. It is
    /// [`NEVER`], without gradient, for an anchor without noise.
    fn log_mean<B: Backend>(
        self,
        anchors: &Tensor<B, 2>,
        noise: Tensor<B, 2>,
        temperature: f64,
    ) -> Tensor<B, 1> {
        let n = self.log_factors.len();
        let options = (&anchors.device(), anchors.dtype());
        let left_out = LeftOut::Marked(&self.is_left_out);
        let log_sums = log_sum_exp(anchors.clone(), noise, temperature, left_out);
        let log_factors = Tensor::from_data(TensorData::new(self.log_factors, [n]), options);
        let log_means = log_sums + log_factors;
        if !self.has_none.contains(&true) {
            return log_means;
        }
        let has_none = TensorData::new(self.has_none, [n]);
        let has_none = Tensor::<B, 1, Bool>::from_data(has_none, &anchors.device());
        log_means.mask_fill(has_none, NEVER)
    }
}

impl<B: Backend> Contrast<B> {
    /// Computes the terms of some `rows` of a mixed batch as [`in_batch_rows`](Self::in_batch_rows) does, from noise
    /// samples that are drawn for each anchor: kᵢ old and kᵢ new ones ([`Draws`]). `draws` must be of all n anchors.
    /// Theorem 1 holds for each anchor, since all losses take the same drawn noise.
    ///
    /// # Panics
    /// As [`in_batch_rows`](Self::in_batch_rows), and if the number of draws is not the number of anchors.
    pub fn in_batch_rows_drawn(
        anchors: Tensor<B, 2>,
        positives: Tensor<B, 2>,
        n_old: usize,
        rows: Range<usize>,
        temperature: f64,
        draws: &Draws,
    ) -> Self {
        assert_paired(&anchors, &positives);
        let [n, _] = anchors.dims();
        draws.assert_of(n);
        of_new(n, n_old);
        let draws = draws.of_rows(rows.clone());
        let (anchors, positives) = (normalize(some(anchors, &rows)), normalize(positives));
        let log_noise = |of: &str, columns: Range<usize>| {
            let noise = positives.clone().narrow(0, columns.start, columns.len());
            in_batch(&anchors, noise, columns, (temperature, &draws), of)
        };
        Self {
            log_noise_old: log_noise("old", 0..n_old),
            log_noise_new: log_noise("new", n_old..n),
            positive: positive_logits(anchors.clone(), some(positives.clone(), &rows), temperature),
        }
    }
}

/// Returns the estimate of log E f⁻ over some rows of a batch, the `columns`, which are noise to all anchors but their
/// own.
fn in_batch<B: Backend>(
    anchors: &Tensor<B, 2>,
    noise: Tensor<B, 2>,
    columns: Range<usize>,
    (temperature, draws): (f64, &Draws),
    of: &str,
) -> Tensor<B, 1> {
    let indices: Vec<u32> = (0..columns.len() as u32).collect();
    let own = |row: usize| match draws.first + row {
        row if columns.contains(&row) => std::slice::from_ref(&indices[row - columns.start]),
        _ => &[],
    };
    draws.log_noise(anchors, noise, temperature, of, own)
}

/// Returns the estimate of log E f⁻ over the positives of the other anchors for the anchors of some `rows`, of
/// normalised rows. The draws are those of all anchors.
pub(crate) fn drawn_log_noise_in_batch<B: Backend>(
    anchors: Tensor<B, 2>,
    positives: Tensor<B, 2>,
    rows: Range<usize>,
    temperature: f64,
    draws: &Draws,
) -> Tensor<B, 1> {
    let n = 1 + others(&positives);
    draws.assert_of(n);
    let draws = draws.of_rows(rows);
    in_batch(&anchors, positives, 0..n, (temperature, &draws), "batch")
}

/// Computes log E f⁻ over the rows of a catalogue `[m, d]` for each of the anchors `[n, d]`, without the rows that are
/// `excluded` for an anchor (sorted and distinct): over all others, or over those that are drawn for it. Result `[n]`.
///
/// An anchor for which all rows are excluded has no noise: its value is so small that its loss is 0, with gradient 0.
///
/// The scores are one product of anchors and catalogue, so that neither they nor the gradient cost more with more
/// negatives; the draws do.
///
/// # Panics
/// If the catalogue has no rows, the widths differ, the number of lists or of draws is not the number of anchors, or a
/// list excludes a row that does not exist.
pub fn catalogue_log_noise<B: Backend>(
    anchors: Tensor<B, 2>,
    catalogue: Tensor<B, 2>,
    excluded: &[Vec<u32>],
    temperature: f64,
    draws: Option<&Draws>,
) -> Tensor<B, 1> {
    let ([n, _], [m, _]) = (anchors.dims(), catalogue.dims());
    assert!(m > 0, "a catalogue needs at least 1 row, found 0");
    assert_eq!(
        n,
        excluded.len(),
        "the number of lists (right) must be the number of anchors (left)"
    );
    let (anchors, catalogue) = (normalize(anchors), normalize(catalogue));
    if let Some(draws) = draws {
        let excluded = |row: usize| excluded[row].as_slice();
        return draws.log_noise(&anchors, catalogue, temperature, "catalogue", excluded);
    }
    let mut is_left_out = vec![false; n * m];
    for (marks, rows) in is_left_out.chunks_mut(m).zip(excluded) {
        for &row in rows {
            marks[row as usize] = true;
        }
    }
    let n_free = excluded.iter().map(|rows| m - rows.len());
    let all = Chosen {
        log_factors: n_free.clone().map(|n| -(n.max(1) as f64).ln()).collect(),
        has_none: n_free.map(|n| n == 0).collect(),
        is_left_out,
    };
    all.log_mean(&anchors, catalogue, temperature)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_skip_the_excluded_columns() {
        let excluded = [0, 3, 4, 9];
        let free: Vec<usize> = (0..6).map(|place| free_column(place, &excluded)).collect();
        assert_eq!(free, [1, 2, 5, 6, 7, 8]);
        assert_eq!(free_column(6, &excluded), 10);
        assert_eq!(free_column(3, &[]), 3);
    }

    /// Eq. 8: the mean of 4000 draws is within five standard errors of K, and no count is another one.
    #[test]
    fn counts_are_k_on_average() {
        for k in [0.25, 1.0, 3.75, 31.0] {
            let draws = Draws::new(k, 4000, Seed::new(3));
            let mean = draws.counts().iter().sum::<usize>() as f64 / 4000.0;
            let variance = k.fract() * (1.0 - k.fract());
            assert!((mean - k).abs() <= 5.0 * (variance / 4000.0).sqrt(), "{k}");
            let low = k.floor() as usize;
            let is_near = |count: &usize| *count == low || (k.fract() > 0.0 && *count == low + 1);
            assert!(draws.counts().iter().all(is_near));
            assert_eq!(draws.counts(), Draws::new(k, 4000, Seed::new(3)).counts());
        }
    }

    #[test]
    fn every_column_is_drawn_as_often_as_the_others_and_no_excluded_one() {
        let n = 6000;
        let draws = Draws::new(2.0, n, Seed::new(8));
        let chosen = draws.choose(7, "test", |_| &[1, 4]);
        let mut frequencies = [0_u32; 7];
        for marks in chosen.is_left_out.chunks(7) {
            assert_eq!(marks.iter().filter(|&&is_left_out| !is_left_out).count(), 2);
            for (frequency, is_left_out) in frequencies.iter_mut().zip(marks) {
                *frequency += u32::from(!is_left_out);
            }
        }
        // 2/5 of all anchors take a free column; five standard deviations around it.
        let expected = 0.4 * n as f64;
        let deviation = 5.0 * (expected * 0.6).sqrt();
        for (column, frequency) in frequencies.into_iter().enumerate() {
            match column {
                1 | 4 => assert_eq!(frequency, 0),
                _ => assert!((f64::from(frequency) - expected).abs() < deviation),
            }
        }
    }
}
