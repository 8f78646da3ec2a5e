//! Incremental InfoNCE, the paper's NCE-II (Definition 5).

use burn::config::Config;
use burn::tensor::{Tensor, backend::Backend};

use super::{check, log_change_ratio};
use crate::log_space::log_mix;
use crate::{Contrast, CoreError, GrowthRatio};

/// NCE-II of each anchor from log r: `[n]` → `[n]`, in nats.
///
/// ```text
/// L^{II} = log(α·r + (1 − α))                                               (7, 8)
/// ```
///
/// Exactly 0 at α = 0 and at r = 1, exactly log r at α = 1. It is no distance: it is bounded below
/// by log(1 − α) only, and negative where the new noise is less similar to the anchor than the old.
pub fn nce_ii<B: Backend>(log_change_ratio: Tensor<B, 1>, alpha: GrowthRatio) -> Tensor<B, 1> {
    // Eq. (7)
    log_mix(log_change_ratio, alpha)
}

/// Configuration of [`IncrementalInfoNce`].
#[derive(Config, Debug)]
pub struct IncrementalInfoNceConfig {
    /// K > 0.
    pub negatives: f64,
    /// τ > 0.
    #[config(default = 0.1)]
    pub temperature: f64,
}

impl IncrementalInfoNceConfig {
    /// The loss.
    ///
    /// # Errors
    /// [`CoreError::Temperature`] or [`CoreError::Negatives`] if τ or K is not a number above 0.
    pub fn try_init(&self) -> Result<IncrementalInfoNce, CoreError> {
        check(self.temperature, Some(self.negatives))?;
        Ok(IncrementalInfoNce {
            temperature: self.temperature,
            negatives: self.negatives,
        })
    }

    /// The loss.
    ///
    /// # Panics
    /// Where [`try_init`](Self::try_init) gives an error, with its words.
    pub fn init(&self) -> IncrementalInfoNce {
        self.try_init().unwrap_or_else(|error| panic!("{error}"))
    }
}

/// NCE-II on embeddings, in nats.
#[derive(Debug, Clone, PartialEq)]
pub struct IncrementalInfoNce {
    temperature: f64,
    negatives: f64,
}

impl IncrementalInfoNce {
    /// The mean loss of old anchors, see [`forward_no_reduction`](Self::forward_no_reduction):
    /// `[1]`.
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

    /// The loss of each old anchor `[n, d]` with its positive `[n, d]`, from samples of p(X)
    /// `[n_old, d]` and of p(ΔX) `[n_new, d]`: `[n]`.
    ///
    /// # Panics
    /// If the shapes do not fit or there is no sample of either noise.
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
