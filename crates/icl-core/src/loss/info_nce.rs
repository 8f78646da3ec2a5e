//! InfoNCE, the paper's NCE-I (van den Oord et al., 2018; Definition 2).

use std::ops::Range;

use burn::config::Config;
use burn::tensor::{Tensor, backend::Backend};

use crate::contrast::log_space::{log_mix, softplus};
use crate::contrast::similarity::normalize;
use crate::contrast::terms::log_noise;
use crate::contrast::terms::{assert_paired, log_noise_in_batch, positive_logits, some};
use crate::error::check_loss;
use crate::{Error, GrowthRatio};

/// Computes NCE-I for each anchor from its terms, in nats: `[n]`, `[n]` → `[n]`.
///
/// ```text
/// L = −log( f⁺ / (f⁺ + K·E f⁻) ) = softplus(log K + log E f⁻ − log f⁺)          (1)
/// ```
///
/// `positive` is log f⁺. `log_noise` is log E f⁻ under the noise distribution: p(X) in Eq. 1, p(X′) in
/// Eq. 2. `negatives` is K; it must be above 0, which is not checked.
pub fn nce_i<B: Backend>(
    positive: Tensor<B, 1>,
    log_noise: Tensor<B, 1>,
    negatives: f64,
) -> Tensor<B, 1> {
    // Eq. (1)
    softplus(log_noise - positive + negatives.ln())
}

/// Computes log E f⁻ under the mixed noise p(X′) from those under p(X) and p(ΔX): `[n]`, `[n]` → `[n]`.
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
    /// Temperature τ, a finite number above 0.
    #[config(default = 0.1)]
    pub temperature: f64,
    /// Number of negatives K, a finite number above 0; by default the number of noise samples, which is
    /// B − 1 in a batch of B. Set it if the last batch may be short: the noise term is K times a mean,
    /// and then keeps its scale.
    #[config(default = "None")]
    pub negatives: Option<f64>,
    /// Whether the loss is averaged with the one in which anchors and positives exchange roles. The
    /// paper's loss is not.
    #[config(default = false)]
    pub symmetric: bool,
}

impl InfoNceConfig {
    /// Creates the loss.
    ///
    /// # Errors
    /// [`Error`] if τ or K is not a finite number above 0.
    pub fn try_init(&self) -> Result<InfoNce, Error> {
        check_loss(self.temperature, self.negatives)?;
        Ok(InfoNce {
            temperature: self.temperature,
            negatives: self.negatives,
            symmetric: self.symmetric,
        })
    }

    /// Creates the loss.
    ///
    /// # Panics
    /// If [`try_init`](Self::try_init) returns an error, with the message of the error.
    pub fn init(&self) -> InfoNce {
        self.try_init().unwrap_or_else(|error| panic!("{error}"))
    }
}

/// InfoNCE, the paper's NCE-I (Definition 2), on embeddings, in nats. See [`nce_i`] for the formula.
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
    /// Computes the mean loss of a batch: `[n, d]`, `[n, d]` → `[1]`. The negatives of an anchor are
    /// the positives of the other anchors.
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

    /// Computes the loss of each anchor of a batch: `[n, d]`, `[n, d]` → `[n]`. The negatives are those
    /// of [`forward`](Self::forward).
    ///
    /// # Panics
    /// If the shapes differ or n < 2.
    pub fn forward_no_reduction<B: Backend>(
        &self,
        anchors: Tensor<B, 2>,
        positives: Tensor<B, 2>,
    ) -> Tensor<B, 1> {
        let rows = 0..anchors.dims()[0];
        self.forward_rows(anchors, positives, rows)
    }

    /// Computes the loss of some anchors of a batch, those of n′ `rows`: `[n, d]`, `[n, d]` → `[n′]`. The negatives are
    /// those of [`forward`](Self::forward), of all rows.
    ///
    /// # Panics
    /// If the shapes differ, n < 2 or a row does not exist.
    pub fn forward_rows<B: Backend>(
        &self,
        anchors: Tensor<B, 2>,
        positives: Tensor<B, 2>,
        rows: Range<usize>,
    ) -> Tensor<B, 1> {
        assert_paired(&anchors, &positives);
        let n_noise = anchors.dims()[0].saturating_sub(1);
        self.directions(anchors, positives, &rows, n_noise, |anchors, positives| {
            log_noise_in_batch(anchors, positives, &rows, self.temperature)
        })
    }

    /// Computes the loss of each anchor `[n, d]` with its positive `[n, d]`, against explicit noise
    /// samples `negatives` `[m, d]`: `[n]`.
    ///
    /// # Panics
    /// If the shapes of anchors and positives differ, if the widths d differ, or if m = 0.
    pub fn forward_with_negatives<B: Backend>(
        &self,
        anchors: Tensor<B, 2>,
        positives: Tensor<B, 2>,
        negatives: Tensor<B, 2>,
    ) -> Tensor<B, 1> {
        let (rows, n_noise) = (0..anchors.dims()[0], negatives.dims()[0]);
        let negatives = normalize(negatives);
        self.directions(anchors, positives, &rows, n_noise, |anchors, _| {
            log_noise(anchors, negatives.clone(), self.temperature)
        })
    }

    /// Computes the loss of each anchor `[n, d]` with its positive `[n, d]` under the mixed noise p(X′)
    /// (Eq. 2 with Eq. 27), from noise samples of p(X) `[n_old, d]` and of p(ΔX) `[n_new, d]`: `[n]`.
    ///
    /// The expectations have the weights 1 − α and α, independent of n_old and n_new.
    ///
    /// # Panics
    /// If the shapes of anchors and positives differ, if the widths d differ, or if there is no sample
    /// of either noise.
    pub fn forward_mixed<B: Backend>(
        &self,
        anchors: Tensor<B, 2>,
        positives: Tensor<B, 2>,
        old_noise: Tensor<B, 2>,
        new_noise: Tensor<B, 2>,
        alpha: GrowthRatio,
    ) -> Tensor<B, 1> {
        let n_noise = old_noise.dims()[0] + new_noise.dims()[0];
        let rows = 0..anchors.dims()[0];
        let (old, new) = (normalize(old_noise), normalize(new_noise));
        self.directions(anchors, positives, &rows, n_noise, |anchors, _| {
            log_mixed_noise(
                log_noise(anchors.clone(), old.clone(), self.temperature),
                log_noise(anchors, new.clone(), self.temperature),
                alpha,
            )
        })
    }

    /// Computes the loss of some rows in one direction, or the mean of both. `log_noise` receives normalised anchors of
    /// these rows, and all positives.
    fn directions<B: Backend>(
        &self,
        anchors: Tensor<B, 2>,
        positives: Tensor<B, 2>,
        rows: &Range<usize>,
        n_noise: usize,
        log_noise: impl Fn(Tensor<B, 2>, Tensor<B, 2>) -> Tensor<B, 1>,
    ) -> Tensor<B, 1> {
        let (anchors, positives) = (normalize(anchors), normalize(positives));
        let own = |tensor: &Tensor<B, 2>| some(tensor.clone(), rows);
        let negatives = self.negatives.unwrap_or(n_noise as f64);
        let positive = positive_logits(own(&anchors), own(&positives), self.temperature);
        let forward = nce_i(
            positive.clone(),
            log_noise(own(&anchors), positives.clone()),
            negatives,
        );
        if !self.symmetric {
            return forward;
        }
        let backward = nce_i(positive, log_noise(own(&positives), anchors), negatives);
        (forward + backward) * 0.5
    }
}
