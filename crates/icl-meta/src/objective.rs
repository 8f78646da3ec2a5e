//! What a step minimises, and on which data.

use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl_core::{
    Contrast, GrowthRatio, InfoNceConfig, log_change_ratio, log_mixed_noise, nce_i, nce_ii,
    paired_cosine_similarity,
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

    /// The loss of a batch in nats `[1]`, from the embeddings of both views `[n, d]`, of which the
    /// first `n_old` rows are old data where batches are stratified. What distillation adds is
    /// [`distance`].
    pub(crate) fn loss<B: Backend>(
        self,
        anchors: Tensor<B, 2>,
        positives: Tensor<B, 2>,
        n_old: usize,
        counted: Anchors,
        alpha: GrowthRatio,
        settings: &TrainingSettings,
    ) -> Tensor<B, 1> {
        let negatives = settings.negatives;
        let [n, _] = anchors.dims();
        let contrast = || {
            Contrast::in_batch(
                anchors.clone(),
                positives.clone(),
                n_old,
                settings.temperature,
            )
        };
        let under_all = |contrast: &Contrast<B>| {
            let noise = log_mixed_noise(
                contrast.log_noise_old.clone(),
                contrast.log_noise_new.clone(),
                alpha,
            );
            nce_i(contrast.positive.clone(), noise, negatives)
        };
        let losses = match self {
            Self::InfoNce(_) | Self::Distillation => {
                return InfoNceConfig::new()
                    .with_temperature(settings.temperature)
                    .with_negatives(Some(negatives))
                    .init()
                    .forward(anchors, positives);
            }
            Self::Published => {
                // Eq. (9)
                let contrast = contrast();
                let old = nce_ii(log_change_ratio(&contrast, negatives), alpha);
                let new = under_all(&contrast).narrow(0, n_old, n - n_old);
                Tensor::cat(vec![old.narrow(0, 0, n_old), new], 0)
            }
            // L^{I,X} + L^{II} = L^{I,X′} at every sample, so it is computed as the latter.
            Self::Corrected => under_all(&contrast()),
        };
        match counted {
            Anchors::All => {
                (losses * stratum_weights::<B>(n_old, n - n_old, alpha, &anchors)).sum()
            }
            Anchors::Old => losses.narrow(0, 0, n_old).mean(),
            Anchors::New => losses.narrow(0, n_old, n - n_old).mean(),
        }
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
fn stratum_weights<B: Backend>(
    n_old: usize,
    n_new: usize,
    alpha: GrowthRatio,
    like: &Tensor<B, 2>,
) -> Tensor<B, 1> {
    let mut weights = vec![(1.0 - alpha.value()) / n_old as f64; n_old];
    weights.resize(n_old + n_new, alpha.value() / n_new as f64);
    let options = (&like.device(), like.dtype());
    Tensor::from_data(TensorData::new(weights, [n_old + n_new]), options)
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
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let new = 0.3 * mean(&nce_i_all[n_old..]);
        let published = 0.7 * mean(&nce_ii[..n_old]) + new;
        let corrected = published + 0.7 * mean(&nce_i_old[..n_old]);
        for (objective, expected) in [
            (Objective::Published, published),
            (Objective::Corrected, corrected),
        ] {
            let loss = objective.loss(
                anchors.clone(),
                positives.clone(),
                n_old,
                Anchors::All,
                alpha,
                &settings,
            );
            assert_close(&to_vec(&loss), &[expected], 1e-5);
        }
        // Support and query are the plain means of their own anchors.
        let part = |objective: Objective, counted| {
            let (anchors, positives) = (anchors.clone(), positives.clone());
            to_vec(&objective.loss(anchors, positives, n_old, counted, alpha, &settings))[0]
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
