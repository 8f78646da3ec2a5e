//! The contrastive loss of a batch, from its embeddings.

use std::ops::Range;

use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl_core::{
    Contrast, Draws, GrowthRatio, InfoNceConfig, NtXentConfig, PairEmbeddings, Seed,
    catalogue_nce_i, drawn_nce_i_rows, log_change_ratio, log_mixed_noise, nce_i, nce_ii,
};

use crate::method::{LossKind, NoiseSet};

/// Anchors of a batch whose losses are computed, if batches separate old samples from new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchors {
    /// All samples, weighted as in Eq. 9.
    All,
    /// Old samples, averaged: a support batch (Eq. 11).
    Old,
    /// New samples, averaged: a query batch (Eq. 12).
    New,
}

/// Contrastive loss, with the numbers on which it depends next to the batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contrastive {
    pub(crate) kind: LossKind,
    /// Temperature τ.
    pub(crate) temperature: f64,
    /// Number of negatives K in the formulas, the same for all losses of a step: Theorem 1 needs that.
    pub(crate) negatives: f64,
    /// Whether each anchor draws its noise samples; otherwise all noise samples of the batch are weighted.
    pub(crate) is_drawn: bool,
    /// Noise samples of NCE-I.
    pub(crate) noise_set: NoiseSet,
    /// Growth ratio α of the data.
    pub(crate) alpha: GrowthRatio,
}

impl Contrastive {
    /// Computes the loss of each anchor in nats that is counted and in some `rows` of a batch, whose first `n_old` rows are old data.
    /// NCE-I treats the batch as one population and counts all anchors; the other losses separate its old samples from its new ones.
    /// With both views as anchors there are twice as many losses. `seed` decides which noise samples are drawn.
    pub(crate) fn of_anchors<B: Backend>(
        &self,
        pairs: PairEmbeddings<B>,
        n_old: usize,
        counted: Anchors,
        rows: Range<usize>,
        seed: Seed,
    ) -> Tensor<B, 1> {
        let (temperature, negatives) = (self.temperature, self.negatives);
        let n = pairs.anchors.dims()[0];
        let draws = (self.is_drawn).then(|| Draws::new(negatives, n, seed.child("negatives")));
        if pairs.catalogue.is_some() {
            // The trainer has checked that no other loss has one.
            return catalogue_nce_i(pairs, temperature, negatives, draws.as_ref());
        }
        let PairEmbeddings {
            anchors, positives, ..
        } = pairs;
        if self.kind == LossKind::InfoNce {
            // Eq. (1)
            return match &draws {
                _ if self.noise_set == NoiseSet::BothViews => NtXentConfig::new()
                    .with_temperature(temperature)
                    .with_negatives(Some(negatives))
                    .init()
                    .forward_rows(anchors, positives, rows),
                Some(draws) => drawn_nce_i_rows(anchors, positives, rows, temperature, draws),
                None => InfoNceConfig::new()
                    .with_temperature(temperature)
                    .with_negatives(Some(negatives))
                    .init()
                    .forward_rows(anchors, positives, rows),
            };
        }
        let rows = counted.among(rows, n_old);
        let (own, at) = (rows.clone(), temperature);
        let contrast = match &draws {
            Some(draws) => Contrast::in_batch_rows_drawn(anchors, positives, n_old, own, at, draws),
            None => Contrast::in_batch_rows(anchors, positives, n_old, own, at),
        };
        // Eq. (2)
        let under_all = |contrast: Contrast<B>| {
            let (old, new) = (contrast.log_noise_old, contrast.log_noise_new);
            nce_i(
                contrast.positive,
                log_mixed_noise(old, new, self.alpha),
                negatives,
            )
        };
        if self.kind == LossKind::Corrected {
            // L^{I,X} + L^{II} = L^{I,X′} at every sample (Theorem 1), and the right side is computed.
            return under_all(contrast);
        }
        // Eq. (9), with r of Eq. (6) and NCE-II of Eq. (8)
        let n_old_rows = n_old.clamp(rows.start, rows.end) - rows.start;
        let of_old = |contrast| nce_ii(log_change_ratio(&contrast, negatives), self.alpha);
        match n_old_rows {
            0 => under_all(contrast),
            n if n == rows.len() => of_old(contrast),
            n => {
                let old = of_old(narrow(contrast.clone(), 0, n));
                let new = under_all(narrow(contrast, n, rows.len() - n));
                Tensor::cat(vec![old, new], 0)
            }
        }
    }

    /// Returns the loss `[1]` of a batch of `n` samples, the first `n_old` of them old, from those of its anchors.
    pub(crate) fn mean<B: Backend>(
        &self,
        losses: Tensor<B, 1>,
        (n_old, n): (usize, usize),
        counted: Anchors,
    ) -> Tensor<B, 1> {
        match counted {
            Anchors::All if self.kind != LossKind::InfoNce => {
                weighted(losses, stratum_weights(n_old, n - n_old, self.alpha))
            }
            _ => losses.mean(),
        }
    }

    /// Returns the part `[1]` of the same loss of all anchors that those of some `rows` have. The parts of all rows add up to the
    /// loss, and so do their gradients at the embeddings.
    pub(crate) fn part_of_mean<B: Backend>(
        &self,
        losses: Tensor<B, 1>,
        (n_old, n): (usize, usize),
        rows: Range<usize>,
    ) -> Tensor<B, 1> {
        let weights = match self.kind {
            LossKind::InfoNce => {
                // One for each view that is an anchor.
                let n_losses = losses.dims()[0];
                vec![rows.len() as f64 / (n * n_losses) as f64; n_losses]
            }
            _ => stratum_weights(n_old, n - n_old, self.alpha)[rows].to_vec(),
        };
        weighted(losses, weights)
    }
}

impl Anchors {
    /// Returns the rows that are counted among some of a batch, of which the first `n_old` are old.
    fn among(self, rows: Range<usize>, n_old: usize) -> Range<usize> {
        match self {
            Self::All => rows,
            Self::Old => rows.start..rows.end.min(n_old),
            Self::New => rows.start.max(n_old)..rows.end,
        }
    }
}

/// Returns the sum `[1]` of losses `[n]` with these weights.
fn weighted<B: Backend>(losses: Tensor<B, 1>, weights: Vec<f64>) -> Tensor<B, 1> {
    let (device, dtype) = (losses.device(), losses.dtype());
    let weights = TensorData::new(weights, losses.dims());
    (losses * Tensor::from_data(weights, (&device, dtype))).sum()
}

/// Returns `n` rows of a contrast from row `first` on.
fn narrow<B: Backend>(contrast: Contrast<B>, first: usize, n: usize) -> Contrast<B> {
    Contrast {
        positive: contrast.positive.narrow(0, first, n),
        log_noise_old: contrast.log_noise_old.narrow(0, first, n),
        log_noise_new: contrast.log_noise_new.narrow(0, first, n),
    }
}

/// Returns the weights with which a sum over a batch estimates the mean over X′: the old rows share 1 − α
/// and the new rows α, whatever the proportion in the batch.
fn stratum_weights(n_old: usize, n_new: usize, alpha: GrowthRatio) -> Vec<f64> {
    let mut weights = vec![(1.0 - alpha.value()) / n_old as f64; n_old];
    weights.resize(n_old + n_new, alpha.value() / n_new as f64);
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use icl_core::testing::{TestBackend, assert_close, to_vec};
    use icl_core::{NoiseLosses, Seed};
    use rand::RngExt;

    fn draw(n: usize, d: usize, seed: u64) -> Tensor<TestBackend, 2> {
        let mut rng = Seed::new(seed).rng();
        let values: Vec<f64> = (0..n * d).map(|_| rng.random::<f64>() - 0.5).collect();
        Tensor::from_data(TensorData::new(values, [n, d]), &Default::default())
    }

    fn settings(alpha: f64) -> Contrastive {
        Contrastive {
            kind: LossKind::InfoNce,
            temperature: 0.1,
            negatives: 31.0,
            is_drawn: false,
            noise_set: NoiseSet::OtherViews,
            alpha: GrowthRatio::try_new(alpha).unwrap(),
        }
    }

    /// The loss of a batch, or the part that some rows have.
    fn of_batch<B: Backend>(
        loss: Contrastive,
        [anchors, positives]: [Tensor<B, 2>; 2],
        n_old: usize,
        counted: Anchors,
        rows: Option<Range<usize>>,
    ) -> Tensor<B, 1> {
        let n = anchors.dims()[0];
        let pairs = PairEmbeddings {
            anchors,
            positives,
            catalogue: None,
        };
        let all = rows.clone().unwrap_or(0..n);
        let losses = loss.of_anchors(pairs, n_old, counted, all, Seed::new(4));
        match rows {
            Some(rows) => loss.part_of_mean(losses, (n_old, n), rows),
            None => loss.mean(losses, (n_old, n), counted),
        }
    }

    #[test]
    fn the_objectives_are_the_sums_of_equation_9() {
        let (anchors, positives, n_old) = (draw(9, 4, 1), draw(9, 4, 2), 5);
        // Not the proportion of this batch: the weights are those of the data.
        let settings = settings(0.3);
        let alpha = settings.alpha;
        let contrast = Contrast::in_batch(
            anchors.clone(),
            positives.clone(),
            n_old,
            settings.temperature,
        );
        let losses = NoiseLosses::new(&contrast, settings.negatives, alpha);
        let [nce_i_old, nce_i_all, nce_ii] =
            [losses.old, losses.all, losses.nce_ii].map(|values| to_vec(&values));
        let batch = || [anchors.clone(), positives.clone()];
        let of = |kind, counted| {
            let loss = Contrastive { kind, ..settings };
            of_batch(loss, batch(), n_old, counted, None)
        };
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let new = 0.3 * mean(&nce_i_all[n_old..]);
        let published = 0.7 * mean(&nce_ii[..n_old]) + new;
        let corrected = published + 0.7 * mean(&nce_i_old[..n_old]);
        for (kind, expected) in [
            (LossKind::Published, published),
            (LossKind::Corrected, corrected),
        ] {
            assert_close(&to_vec(&of(kind, Anchors::All)), &[expected], 1e-5);
        }
        // Support and query are the plain means of their own anchors.
        for (kind, counted, expected) in [
            (LossKind::Published, Anchors::Old, mean(&nce_ii[..n_old])),
            (LossKind::Corrected, Anchors::Old, mean(&nce_i_all[..n_old])),
            (LossKind::Published, Anchors::New, mean(&nce_i_all[n_old..])),
            (LossKind::Corrected, Anchors::New, mean(&nce_i_all[n_old..])),
        ] {
            assert_close(&to_vec(&of(kind, counted)), &[expected], 1e-5);
        }
    }

    /// Every view is an anchor, against both views of the other samples, by a double loop.
    #[test]
    fn the_noise_of_both_views_is_nt_xent() {
        let (n, d, settings) = (5, 4, settings(0.3));
        let views = [draw(n, d, 1), draw(n, d, 2)];
        let rows: Vec<f64> = views.iter().flat_map(to_vec).collect();
        let row = |at: usize| &rows[d * at..d * (at + 1)];
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let f = |i: usize, j: usize| {
            let (a, b) = (row(i), row(j));
            (dot(a, b) / (dot(a, a) * dot(b, b)).sqrt() / settings.temperature).exp()
        };
        let loss = |i: usize| {
            let positive = (i + n) % (2 * n);
            let noise = (0..2 * n).filter(|&k| k != i && k != positive);
            let mean = noise.map(|k| f(i, k)).sum::<f64>() / (2 * n - 2) as f64;
            (settings.negatives * mean / f(i, positive)).ln_1p()
        };
        let expected = (0..2 * n).map(loss).sum::<f64>() / (2 * n) as f64;
        let settings = Contrastive {
            noise_set: NoiseSet::BothViews,
            ..settings
        };
        let found = of_batch(settings, views, 0, Anchors::All, None);
        assert_close(&to_vec(&found), &[expected], 1e-5);
    }

    #[test]
    fn the_noise_of_a_batch_has_gradients() {
        type A = icl_core::testing::TestAutodiff;
        let leaf = |seed| Tensor::<A, 2>::from_inner(draw(9, 4, seed)).require_grad();
        let settings = settings(0.3);
        for kind in [LossKind::Published, LossKind::Corrected] {
            for (counted, others) in [(Anchors::Old, 20..36), (Anchors::New, 0..20)] {
                let (anchors, positives) = (leaf(1), leaf(2));
                let batch = [anchors.clone(), positives.clone()];
                let loss = Contrastive { kind, ..settings };
                let loss = of_batch(loss, batch, 5, counted, None);
                let gradients = loss.backward();
                let [of_anchors, of_positives] =
                    [anchors, positives].map(|x| to_vec(&x.grad(&gradients).unwrap()));
                assert!(of_anchors[others.clone()].iter().all(|&g| g == 0.0));
                assert!(of_positives[others].iter().all(|&g| g != 0.0));
            }
        }
    }

    /// Losses and gradients of rows that cut old and new anchors unevenly, for every noise that an anchor may have.
    #[test]
    fn the_parts_of_some_rows_add_up_to_the_loss() {
        type A = icl_core::testing::TestAutodiff;
        let n = 11;
        let plain = settings(0.3);
        let drawn = Contrastive {
            negatives: 2.5,
            is_drawn: true,
            ..plain
        };
        let both = Contrastive {
            noise_set: NoiseSet::BothViews,
            ..plain
        };
        let part = |kind: LossKind, rows: Option<Range<usize>>, settings| {
            let loss = Contrastive { kind, ..settings };
            let leaf = |seed| Tensor::<A, 2>::from_inner(draw(n, 4, seed)).require_grad();
            let (anchors, positives) = (leaf(1), leaf(2));
            let batch = [anchors.clone(), positives.clone()];
            let loss = of_batch(loss, batch, 5, Anchors::All, rows);
            let gradients = loss.backward();
            let slopes = [anchors, positives].map(|leaf| leaf.grad(&gradients).unwrap());
            let slopes = slopes.iter().flat_map(to_vec);
            to_vec(&loss)
                .into_iter()
                .chain(slopes)
                .collect::<Vec<f64>>()
        };
        for (kind, settings) in [
            (LossKind::InfoNce, plain),
            (LossKind::InfoNce, drawn),
            (LossKind::InfoNce, both),
            (LossKind::Published, plain),
            (LossKind::Published, drawn),
            (LossKind::Corrected, plain),
            (LossKind::Corrected, drawn),
        ] {
            let whole = part(kind, None, settings);
            for ends in [vec![0, 11], vec![0, 3, 8, 11], vec![0, 1, 5, 6, 11]] {
                let mut sum = vec![0.0; whole.len()];
                for rows in ends.windows(2) {
                    let found = part(kind, Some(rows[0]..rows[1]), settings);
                    sum.iter_mut()
                        .zip(found)
                        .for_each(|(sum, found)| *sum += found);
                }
                assert_close(&sum, &whole, 1e-5);
            }
        }
    }
}
