//! The change ratio of the noise distribution (Definition 4) and incremental InfoNCE, the paper's
//! NCE-II (Definition 5).

use burn::config::Config;
use burn::tensor::{Tensor, backend::Backend};

use crate::contrast::log_space::{log_mix, softplus};
use crate::error::check_loss;
use crate::{Contrast, Error, GrowthRatio};

/// Computes log r for each anchor, with r the change ratio of the noise distribution from X to ΔX
/// (Definition 4): `[n]`.
///
/// ```text
/// r = (f⁺ + K·E_ΔX f⁻) / (f⁺ + K·E_X f⁻)                                    (6)
/// log r = softplus(log K + log E_ΔX − log f⁺) − softplus(log K + log E_X − log f⁺)
/// ```
///
/// It is exactly 0 where the expectations under both noise distributions are equal. `negatives` is K;
/// it must be above 0, which is not checked.
pub fn log_change_ratio<B: Backend>(contrast: &Contrast<B>, negatives: f64) -> Tensor<B, 1> {
    // Eq. (6), both sums divided by f⁺.
    let relative = |log_noise: &Tensor<B, 1>| {
        softplus(log_noise.clone() - contrast.positive.clone() + negatives.ln())
    };
    relative(&contrast.log_noise_new) - relative(&contrast.log_noise_old)
}

/// Computes the change ratio r = exp(log r) of Eq. 6 for each anchor: `[n]`.
///
/// It overflows in f32 where log r > 88, which takes a temperature below 0.023. [`log_change_ratio`]
/// does not overflow.
pub fn change_ratio<B: Backend>(contrast: &Contrast<B>, negatives: f64) -> Tensor<B, 1> {
    log_change_ratio(contrast, negatives).exp()
}

/// Computes NCE-II for each anchor from log r, in nats: `[n]` → `[n]`.
///
/// ```text
/// L^{II} = log(α·r + (1 − α))                                               (7, 8)
/// ```
///
/// It is exactly 0 at α = 0 and at r = 1, and exactly log r at α = 1. NCE-II is no distance: its only
/// lower bound is log(1 − α), and it is negative where the new noise is less similar to the anchor than
/// the old noise.
pub fn nce_ii<B: Backend>(log_change_ratio: Tensor<B, 1>, alpha: GrowthRatio) -> Tensor<B, 1> {
    // Eq. (7)
    log_mix(log_change_ratio, alpha)
}

/// Configuration of [`IncrementalInfoNce`].
#[derive(Config, Debug)]
pub struct IncrementalInfoNceConfig {
    /// Number of negatives K, a finite number above 0.
    pub negatives: f64,
    /// Temperature τ, a finite number above 0.
    #[config(default = 0.1)]
    pub temperature: f64,
}

impl IncrementalInfoNceConfig {
    /// Creates the loss.
    ///
    /// # Errors
    /// [`Error`] if τ or K is not a finite number above 0.
    pub fn try_init(&self) -> Result<IncrementalInfoNce, Error> {
        check_loss(self.temperature, Some(self.negatives))?;
        Ok(IncrementalInfoNce {
            temperature: self.temperature,
            negatives: self.negatives,
        })
    }

    /// Creates the loss.
    ///
    /// # Panics
    /// If [`try_init`](Self::try_init) returns an error, with the message of the error.
    pub fn init(&self) -> IncrementalInfoNce {
        self.try_init().unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Incremental InfoNCE, the paper's NCE-II (Definition 5), on embeddings, in nats.
///
/// It is the term by which NCE-I under the new noise distribution p(X′) exceeds NCE-I under the old
/// one, p(X) (Theorem 1). See [`nce_ii`] for the formula.
///
/// ```
/// use burn::tensor::Tensor;
/// use icl_core::{GrowthRatio, IncrementalInfoNceConfig};
/// type B = burn::backend::Flex;
///
/// let rows = |rows: [[f32; 2]; 2]| Tensor::<B, 2>::from_data(rows, &Default::default());
/// let (anchors, noise) = (rows([[1.0, 0.0], [0.0, 1.0]]), rows([[1.0, 1.0], [1.0, -1.0]]));
/// let loss = IncrementalInfoNceConfig::new(16.0).init();
/// let alpha = GrowthRatio::from_counts(300, 100);
/// // The old and the new noise are the same: nothing has changed.
/// let value = loss.forward(anchors.clone(), anchors, noise.clone(), noise, alpha);
/// assert_eq!(value.into_scalar(), 0.0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct IncrementalInfoNce {
    temperature: f64,
    negatives: f64,
}

impl IncrementalInfoNce {
    /// Computes the mean loss of old anchors: `[1]`. The arguments are those of
    /// [`forward_no_reduction`](Self::forward_no_reduction).
    ///
    /// # Panics
    /// If the shapes do not fit or there is no sample of either noise.
    pub fn forward<B: Backend>(
        &self,
        anchors: Tensor<B, 2>,
        positives: Tensor<B, 2>,
        old_noise: Tensor<B, 2>,
        new_noise: Tensor<B, 2>,
        alpha: GrowthRatio,
    ) -> Tensor<B, 1> {
        self.forward_no_reduction(anchors, positives, old_noise, new_noise, alpha)
            .mean()
    }

    /// Computes the loss of each old anchor `[n, d]` with its positive `[n, d]`, from noise samples of
    /// p(X) `[n_old, d]` and of p(ΔX) `[n_new, d]`: `[n]`.
    ///
    /// # Panics
    /// If the shapes of anchors and positives differ, if the widths d differ, or if there is no sample
    /// of either noise.
    pub fn forward_no_reduction<B: Backend>(
        &self,
        anchors: Tensor<B, 2>,
        positives: Tensor<B, 2>,
        old_noise: Tensor<B, 2>,
        new_noise: Tensor<B, 2>,
        alpha: GrowthRatio,
    ) -> Tensor<B, 1> {
        let contrast =
            Contrast::explicit(anchors, positives, old_noise, new_noise, self.temperature);
        nce_ii(log_change_ratio(&contrast, self.negatives), alpha)
    }
}
