//! What a step minimises, and on which data.

use std::ops::Range;

use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl_core::{
    Contrast, GrowthRatio, InfoNceConfig, MixedBatch, QueuedNoise, log_change_ratio,
    log_mixed_noise, nce_i, nce_ii, paired_cosine_similarity,
};

use serde::{Deserialize, Serialize};

use crate::{Distance, TrainingSettings};

/// The data whose distribution the noise of NCE-I follows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Noise {
    /// p(X) on X: what the first encoder is trained with.
    Old,
    /// p(ΔX) on ΔX.
    New,
    /// p(X′) on X′.
    All,
    /// On ΔX and a fresh fraction f of X in each epoch, with noise from what the epoch holds. New
    /// data weigh α/(α + f(1 − α)) instead of α, in the sum and in the noise: quicker, and biased.
    Fraction(f64),
    /// As [`Fraction`](Self::Fraction), but the share of old data is only where the run begins: it
    /// grows up to all of X when the exact risk says so.
    Widening(f64),
    /// On ΔX and a buffer that was drawn from X once, by reservoir sampling.
    Replay,
}

/// The objectives.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Objective {
    /// NCE-I (Eq. 1), the noise samples of an anchor being the others of its batch.
    InfoNce(Noise),
    /// NCE-I under p(ΔX) on ΔX, and the distance of each embedding to that of the encoder that the
    /// run began with.
    Distillation,
    /// Eq. 9 as published: NCE-II on X, NCE-I under p(X′) on ΔX, divided by the number of samples.
    ///
    /// It drops NCE-I under p(X) on X, whose gradient is 0 only where that loss is minimal.
    Published,
    /// Eq. 9 with the dropped term: NCE-I under p(X) plus NCE-II on X, which is NCE-I under p(X′)
    /// at every θ (Theorem 1), and NCE-I under p(X′) on ΔX.
    Corrected,
}

/// Whose losses a batch that tells old from new contributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchors {
    /// Everybody's, weighted as Eq. 9 does.
    All,
    /// The mean over its old samples: a support batch (Eq. 11).
    Old,
    /// The mean over its new samples: a query (Eq. 12).
    New,
}

impl Objective {
    /// Whether batches hold old and new samples in the proportion of the data, old ones first, and
    /// tell the two noises apart.
    pub fn is_stratified(self) -> bool {
        matches!(self, Self::Published | Self::Corrected)
    }

    /// The share of `n_old` old samples that the first epoch may draw from.
    pub(crate) fn first_fraction(self, settings: &TrainingSettings, n_old: usize) -> f64 {
        match self {
            Self::InfoNce(Noise::Fraction(fraction) | Noise::Widening(fraction)) => fraction,
            Self::InfoNce(Noise::Replay) => settings.replay_size(n_old) as f64 / n_old as f64,
            Self::InfoNce(Noise::New) | Self::Distillation => 0.0,
            _ => 1.0,
        }
    }

    /// The loss of a batch in nats `[1]`, from its embeddings; where batches are not stratified they are
    /// taken for one population. What distillation adds is [`distance`].
    pub(crate) fn loss<B: Backend>(
        self,
        batch: MixedBatch<'_, B>,
        queue: Option<&QueuedNoise<B>>,
        counted: Anchors,
        alpha: GrowthRatio,
        settings: &TrainingSettings,
    ) -> Tensor<B, 1> {
        let negatives = settings.negatives;
        if !self.is_stratified() {
            return InfoNceConfig::new()
                .with_temperature(settings.temperature)
                .with_negatives(Some(negatives))
                .init()
                .forward(batch.anchors, batch.positives);
        }
        let n_old = batch.n_old;
        let (device, dtype) = (batch.anchors.device(), batch.anchors.dtype());
        let rows = counted.rows(n_old, batch.samples.len());
        let contrast = contrast(batch, queue, rows.clone(), settings.temperature);
        let under_all = |contrast: Contrast<B>| {
            let noise = log_mixed_noise(contrast.log_noise_old, contrast.log_noise_new, alpha);
            nce_i(contrast.positive, noise, negatives)
        };
        let nce_ii = |contrast| nce_ii(log_change_ratio(&contrast, negatives), alpha);
        let losses = match (self, counted) {
            // Eq. (9)
            (Self::Published, Anchors::All) => {
                let n_new = rows.len() - n_old;
                let old = nce_ii(narrow(contrast.clone(), 0, n_old));
                Tensor::cat(vec![old, under_all(narrow(contrast, n_old, n_new))], 0)
            }
            (Self::Published, Anchors::Old) => nce_ii(contrast),
            // L^{I,X} + L^{II} = L^{I,X′} at every sample, so it is computed as the latter.
            _ => under_all(contrast),
        };
        match counted {
            Anchors::All => {
                let weights = stratum_weights(n_old, rows.len() - n_old, alpha);
                let weights = TensorData::new(weights, [rows.len()]);
                (losses * Tensor::from_data(weights, (&device, dtype))).sum()
            }
            Anchors::Old | Anchors::New => losses.mean(),
        }
    }
}

impl Anchors {
    /// The rows that are anchors, of a batch of `n` whose first `n_old` are old.
    fn rows(self, n_old: usize, n: usize) -> Range<usize> {
        match self {
            Self::All => 0..n,
            Self::Old => 0..n_old,
            Self::New => n_old..n,
        }
    }
}

/// The contrast of the rows that are anchors.
fn contrast<B: Backend>(
    batch: MixedBatch<'_, B>,
    queue: Option<&QueuedNoise<B>>,
    rows: Range<usize>,
    temperature: f64,
) -> Contrast<B> {
    match queue {
        Some(queue) => Contrast::in_batch_with_queue(batch, rows, queue, temperature),
        None => {
            let MixedBatch {
                anchors,
                positives,
                n_old,
                ..
            } = batch;
            let contrast = Contrast::in_batch(anchors, positives, n_old, temperature);
            narrow(contrast, rows.start, rows.len())
        }
    }
}

/// Some rows of a contrast.
fn narrow<B: Backend>(contrast: Contrast<B>, first: usize, n: usize) -> Contrast<B> {
    Contrast {
        positive: contrast.positive.narrow(0, first, n),
        log_noise_old: contrast.log_noise_old.narrow(0, first, n),
        log_noise_new: contrast.log_noise_new.narrow(0, first, n),
    }
}

/// The mean distance `[1]` between the rows of two sets of embeddings `[n, d]`.
pub(crate) fn distance<B: Backend>(
    embeddings: Tensor<B, 2>,
    targets: Tensor<B, 2>,
    distance: Distance,
) -> Tensor<B, 1> {
    match distance {
        Distance::Cosine => -paired_cosine_similarity(embeddings, targets).mean() + 1.0,
        Distance::MeanSquared => (embeddings - targets).powi_scalar(2).mean(),
    }
}

/// Weights by which a sum over a stratified batch estimates the mean over X′: 1 − α shared by the
/// old rows, α by the new ones, however many the batch holds of each.
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

    #[test]
    fn the_objectives_are_the_sums_of_equation_9() {
        let (anchors, positives, n_old) = (draw(9, 4, 1), draw(9, 4, 2), 5);
        let settings = TrainingSettings::default();
        // Not the proportion of this batch: the weights are those of the data.
        let alpha = GrowthRatio::try_new(0.3).unwrap();
        let contrast = Contrast::in_batch(
            anchors.clone(),
            positives.clone(),
            n_old,
            settings.temperature,
        );
        let losses = NoiseLosses::new(&contrast, settings.negatives, alpha);
        let [nce_i_old, nce_i_all, nce_ii] =
            [losses.old, losses.all, losses.nce_ii].map(|values| to_vec(&values));
        let samples: Vec<usize> = (0..9).collect();
        let batch = || MixedBatch {
            anchors: anchors.clone(),
            positives: positives.clone(),
            samples: &samples,
            n_old,
        };
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let new = 0.3 * mean(&nce_i_all[n_old..]);
        let published = 0.7 * mean(&nce_ii[..n_old]) + new;
        let corrected = published + 0.7 * mean(&nce_i_old[..n_old]);
        for (objective, expected) in [
            (Objective::Published, published),
            (Objective::Corrected, corrected),
        ] {
            let loss = objective.loss(batch(), None, Anchors::All, alpha, &settings);
            assert_close(&to_vec(&loss), &[expected], 1e-5);
        }
        // Support and query are the plain means of their own anchors.
        let part = |objective: Objective, counted| {
            to_vec(&objective.loss(batch(), None, counted, alpha, &settings))[0]
        };
        for (objective, counted, expected) in [
            (Objective::Published, Anchors::Old, mean(&nce_ii[..n_old])),
            (
                Objective::Corrected,
                Anchors::Old,
                mean(&nce_i_all[..n_old]),
            ),
            (
                Objective::Published,
                Anchors::New,
                mean(&nce_i_all[n_old..]),
            ),
            (
                Objective::Corrected,
                Anchors::New,
                mean(&nce_i_all[n_old..]),
            ),
        ] {
            assert_close(&[part(objective, counted)], &[expected], 1e-5);
        }
    }

    /// Noise is learned from, too, where the objective has it: only the queue is left alone.
    #[test]
    fn the_noise_of_a_batch_has_gradients_with_a_queue_and_without() {
        type A = icl_core::testing::TestAutodiff;
        let leaf = |seed| Tensor::<A, 2>::from_inner(draw(9, 4, seed)).require_grad();
        let samples: Vec<usize> = (0..9).collect();
        let queue = QueuedNoise::new(Tensor::<A, 2>::from_inner(draw(6, 4, 3)), vec![5; 6]);
        let settings = TrainingSettings::default();
        let alpha = GrowthRatio::try_new(0.3).unwrap();
        for objective in [Objective::Published, Objective::Corrected] {
            for queue in [None, Some(&queue)] {
                for (counted, others) in [(Anchors::Old, 20..36), (Anchors::New, 0..20)] {
                    let (anchors, positives) = (leaf(1), leaf(2));
                    let batch = MixedBatch {
                        anchors: anchors.clone(),
                        positives: positives.clone(),
                        samples: &samples,
                        n_old: 5,
                    };
                    let loss = objective.loss(batch, queue, counted, alpha, &settings);
                    let gradients = loss.backward();
                    let [of_anchors, of_positives] =
                        [anchors, positives].map(|x| to_vec(&x.grad(&gradients).unwrap()));
                    assert!(of_anchors[others.clone()].iter().all(|&g| g == 0.0));
                    assert!(of_positives[others].iter().all(|&g| g != 0.0));
                }
            }
        }
    }

    #[test]
    fn distances_are_those_of_their_formulas() {
        let (a, b) = (draw(5, 3, 1), draw(5, 3, 2));
        let rows = |x: &Tensor<TestBackend, 2>| -> Vec<Vec<f64>> {
            to_vec(x).chunks(3).map(<[f64]>::to_vec).collect()
        };
        let (left, right) = (rows(&a), rows(&b));
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let pairs = || left.iter().zip(&right);
        let cosine = pairs()
            .map(|(x, y)| 1.0 - dot(x, y) / (dot(x, x) * dot(y, y)).sqrt())
            .sum::<f64>()
            / 5.0;
        let squared = pairs()
            .flat_map(|(x, y)| x.iter().zip(y).map(|(x, y)| (x - y).powi(2)))
            .sum::<f64>()
            / 15.0;
        let found = |kind| to_vec(&distance(a.clone(), b.clone(), kind));
        assert_close(&found(Distance::Cosine), &[cosine], 1e-5);
        assert_close(&found(Distance::MeanSquared), &[squared], 1e-5);
    }
}
