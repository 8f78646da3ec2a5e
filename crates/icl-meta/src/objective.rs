//! What a step minimises, and on which data.

use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl_core::{
    Contrast, GrowthRatio, InfoNceConfig, log_change_ratio, log_mixed_noise, nce_i, nce_ii,
};

use crate::TrainingSettings;

/// The data whose distribution the noise of NCE-I follows.
#[derive(Debug, Clone, Copy, PartialEq)]
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
}

/// The objectives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Objective {
    /// NCE-I (Eq. 1), the noise samples of an anchor being the others of its batch.
    InfoNce(Noise),
    /// Eq. 9 as published: NCE-II on X, NCE-I under p(X′) on ΔX, divided by the number of samples.
    ///
    /// It drops NCE-I under p(X) on X, whose gradient is 0 only where that loss is minimal.
    Published,
    /// Eq. 9 with the dropped term: NCE-I under p(X) plus NCE-II on X, which is NCE-I under p(X′)
    /// at every θ (Theorem 1), and NCE-I under p(X′) on ΔX.
    Corrected,
}

impl Objective {
    /// Whether batches hold old and new samples in the proportion of the data, old ones first, and
    /// tell the two noises apart.
    pub fn is_stratified(self) -> bool {
        matches!(self, Self::Published | Self::Corrected)
    }

    /// The loss of a batch in nats `[1]`, from the embeddings of both views `[n, d]`, of which the
    /// first `n_old` rows are old data where batches are stratified.
    pub(crate) fn loss<B: Backend>(
        self,
        anchors: Tensor<B, 2>,
        positives: Tensor<B, 2>,
        n_old: usize,
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
            Self::InfoNce(_) => {
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
        (losses * stratum_weights::<B>(n_old, n - n_old, alpha, &anchors)).sum()
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
            let loss = objective.loss(anchors.clone(), positives.clone(), n_old, alpha, &settings);
            assert_close(&to_vec(&loss), &[expected], 1e-5);
        }
    }
}
