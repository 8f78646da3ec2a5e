//! InfoNCE, the paper's NCE-I (van den Oord et al., 2018; Definition 2).

use burn::config::Config;
use burn::tensor::{Tensor, backend::Backend};

use super::check;
use crate::contrast::{log_noise_in_batch, positive_logits};
use crate::log_noise::log_noise;
use crate::log_space::{log_mix, softplus};
use crate::similarity::normalize;
use crate::{CoreError, GrowthRatio};

/// NCE-I of each anchor from its terms, in nats: `[n]`, `[n]` → `[n]`.
///
/// ```text
/// L = −log( f⁺ / (f⁺ + K·E f⁻) ) = softplus(log K + log E f⁻ − log f⁺)          (1)
/// ```
///
/// `positive` is log f⁺, `log_noise` is log E f⁻ under whatever noise distribution is meant (p(X)
/// in Eq. 1, p(X′) in Eq. 2) and `negatives` is K, above 0: it is not checked here.
pub fn nce_i<B: Backend>(
    positive: Tensor<B, 1>,
    log_noise: Tensor<B, 1>,
    negatives: f64,
) -> Tensor<B, 1> {
    // Eq. (1)
    softplus(log_noise - positive + negatives.ln())
}

/// log E under the mixed noise p(X′), by stratification: `[n]`, `[n]` → `[n]`.
///
/// ```text
/// E_X′ f⁻ = (1 − α)·E_X f⁻ + α·E_ΔX f⁻                                     (27)
/// ```
pub fn log_mixed_noise<B: Backend>(
    log_noise_old: Tensor<B, 1>,
    log_noise_new: Tensor<B, 1>,
    alpha: GrowthRatio,
) -> Tensor<B, 1> {
    if alpha.value() == 1.0 {
        return log_noise_new;
    }
    // Eq. (27), divided by E_X.
    log_mix(log_noise_new - log_noise_old.clone(), alpha) + log_noise_old
}

/// Configuration of [`InfoNce`].
#[derive(Config, Debug)]
pub struct InfoNceConfig {
    /// τ > 0.
    #[config(default = 0.1)]
    pub temperature: f64,
    /// K > 0; as many as there are noise samples where it is not given, so that K = B − 1 in a
    /// batch of B. Set it where batches may be short: the noise term is K times a mean, and stays
    /// what it was.
    #[config(default = "None")]
    pub negatives: Option<f64>,
    /// Whether anchors and positives also change their roles, and the two losses are averaged. The
    /// paper's loss has one direction.
    #[config(default = false)]
    pub symmetric: bool,
}

impl InfoNceConfig {
    /// The loss.
    ///
    /// # Errors
    /// [`CoreError::Temperature`] or [`CoreError::Negatives`] if τ or K is not a number above 0.
    pub fn try_init(&self) -> Result<InfoNce, CoreError> {
        check(self.temperature, self.negatives)?;
        Ok(InfoNce {
            temperature: self.temperature,
            negatives: self.negatives,
            symmetric: self.symmetric,
        })
    }

    /// The loss.
    ///
    /// # Panics
    /// Where [`try_init`](Self::try_init) gives an error, with its words.
    pub fn init(&self) -> InfoNce {
        self.try_init().unwrap_or_else(|error| panic!("{error}"))
    }
}

/// NCE-I on embeddings, in nats.
///
/// ```
/// use burn::tensor::Tensor;
/// use icl_core::InfoNceConfig;
/// type B = burn::backend::Flex;
///
/// let anchors = Tensor::<B, 2>::from_data([[1.0, 0.0], [0.0, 1.0]], &Default::default());
/// let loss = InfoNceConfig::new().init().forward(anchors.clone(), anchors);
/// assert!(loss.into_scalar() < 1e-4); // The positives are alike, the negatives are not.
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct InfoNce {
    temperature: f64,
    negatives: Option<f64>,
    symmetric: bool,
}

impl InfoNce {
    /// The mean loss of a batch, the negatives of an anchor being the positives of the others:
    /// `[n, d]`, `[n, d]` → `[1]`.
    ///
    /// # Panics
    /// If the shapes differ or n < 2.
    pub fn forward<B: Backend>(
        &self,
        anchors: Tensor<B, 2>,
        positives: Tensor<B, 2>,
    ) -> Tensor<B, 1> {
        self.forward_no_reduction(anchors, positives).mean()
    }

    /// As [`forward`](Self::forward), one loss an anchor: `[n]`.
    ///
    /// # Panics
    /// If the shapes differ or n < 2.
    pub fn forward_no_reduction<B: Backend>(
        &self,
        anchors: Tensor<B, 2>,
        positives: Tensor<B, 2>,
    ) -> Tensor<B, 1> {
        let n_noise = anchors.dims()[0].saturating_sub(1);
        self.directions(anchors, positives, n_noise, |anchors, positives| {
            log_noise_in_batch(anchors, positives, self.temperature)
        })
    }

    /// The loss of each anchor against explicit negatives `[m, d]`, samples of the noise: `[n]`.
    ///
    /// # Panics
    /// If the shapes do not fit or m = 0.
    pub fn forward_with_negatives<B: Backend>(
        &self,
        anchors: Tensor<B, 2>,
        positives: Tensor<B, 2>,
        negatives: Tensor<B, 2>,
    ) -> Tensor<B, 1> {
        let n_noise = negatives.dims()[0];
        let negatives = normalize(negatives);
        self.directions(anchors, positives, n_noise, |anchors, _| {
            log_noise(anchors, negatives.clone(), self.temperature)
        })
    }

    /// The loss of each anchor under the mixed noise p(X′) (Eq. 2 with Eq. 27), from samples of
    /// p(X) `[n_old, d]` and of p(ΔX) `[n_new, d]`: `[n]`. The weights are (1 − α) and α, however
    /// many samples there are of each.
    ///
    /// # Panics
    /// If the shapes do not fit or there is no sample of either noise.
    pub fn forward_mixed<B: Backend>(
        &self,
        anchors: Tensor<B, 2>,
        positives: Tensor<B, 2>,
        old_noise: Tensor<B, 2>,
        new_noise: Tensor<B, 2>,
        alpha: GrowthRatio,
    ) -> Tensor<B, 1> {
        let n_noise = old_noise.dims()[0] + new_noise.dims()[0];
        let (old, new) = (normalize(old_noise), normalize(new_noise));
        self.directions(anchors, positives, n_noise, |anchors, _| {
            log_mixed_noise(
                log_noise(anchors.clone(), old.clone(), self.temperature),
                log_noise(anchors, new.clone(), self.temperature),
                alpha,
            )
        })
    }

    /// One direction, or the mean of both, with `log_noise` of normalised anchors and positives.
    fn directions<B: Backend>(
        &self,
        anchors: Tensor<B, 2>,
        positives: Tensor<B, 2>,
        n_noise: usize,
        log_noise: impl Fn(Tensor<B, 2>, Tensor<B, 2>) -> Tensor<B, 1>,
    ) -> Tensor<B, 1> {
        let (anchors, positives) = (normalize(anchors), normalize(positives));
        let negatives = self.negatives.unwrap_or(n_noise as f64);
        let positive = positive_logits(anchors.clone(), positives.clone(), self.temperature);
        let forward = nce_i(
            positive.clone(),
            log_noise(anchors.clone(), positives.clone()),
            negatives,
        );
        if !self.symmetric {
            return forward;
        }
        (forward + nce_i(positive, log_noise(positives, anchors), negatives)) * 0.5
    }
}
