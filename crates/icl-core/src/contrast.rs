//! What the losses need to know of a batch: how similar each anchor is to its positive, and on
//! average to the old and to the new noise.

use burn::tensor::{Tensor, TensorData, backend::Backend};

use crate::log_noise::{log_noise, log_sum};
use crate::similarity::normalize;

/// The three terms of every loss of the paper, one of each an anchor, as logarithms.
///
/// ```text
/// positive       log f(xᵢ, xᵢ⁺) = sim(xᵢ, xᵢ⁺)/τ
/// log_noise_old  log E_{x⁻ ~ p(X)}  f(xᵢ, x⁻)
/// log_noise_new  log E_{x⁻ ~ p(ΔX)} f(xᵢ, x⁻)
/// ```
///
/// The expectations are sample means, whatever the number n of samples; the number K of negatives
/// is a factor of the formulas (Eq. 1) and enters there. The temperature τ must be a number above 0;
/// it is checked by the configurations of the losses, not here.
#[derive(Debug, Clone)]
pub struct Contrast<B: Backend> {
    /// log f(xᵢ, xᵢ⁺) `[n]`.
    pub positive: Tensor<B, 1>,
    /// log E_X f(xᵢ, x⁻) `[n]`.
    pub log_noise_old: Tensor<B, 1>,
    /// log E_ΔX f(xᵢ, x⁻) `[n]`.
    pub log_noise_new: Tensor<B, 1>,
}

impl<B: Backend> Contrast<B> {
    /// From noise samples that are given explicitly: `anchors` and `positives` `[n, d]`, samples of
    /// p(X) `[n_old, d]` and of p(ΔX) `[n_new, d]`. Every row of both is a noise sample.
    ///
    /// # Panics
    /// If shapes do not fit or there is no sample of either noise.
    pub fn explicit(
        anchors: Tensor<B, 2>,
        positives: Tensor<B, 2>,
        old_noise: Tensor<B, 2>,
        new_noise: Tensor<B, 2>,
        temperature: f64,
    ) -> Self {
        let anchors = normalize(anchors);
        Self {
            positive: positive_logits(anchors.clone(), normalize(positives), temperature),
            log_noise_old: log_noise(anchors.clone(), normalize(old_noise), temperature),
            log_noise_new: log_noise(anchors, normalize(new_noise), temperature),
        }
    }

    /// From one mixed batch: the first `n_old` rows of `anchors` and `positives` `[n, d]` are old
    /// data, the others new. The noise samples of an anchor are the positives of all others, old
    /// and new apart.
    ///
    /// # Panics
    /// If shapes differ or the batch holds fewer than 2 old or 2 new rows.
    pub fn in_batch(
        anchors: Tensor<B, 2>,
        positives: Tensor<B, 2>,
        n_old: usize,
        temperature: f64,
    ) -> Self {
        assert_eq!(anchors.dims(), positives.dims(), "one positive an anchor");
        let [n, _] = anchors.dims();
        let n_new = n.saturating_sub(n_old);
        assert!(
            n_old >= 2 && n_new >= 2,
            "a mixed batch needs 2 old and 2 new rows, found {n_old} and {n_new}"
        );
        let (anchors, positives) = (normalize(anchors), normalize(positives));
        // An old anchor has one old negative fewer, since it is none of its own; likewise a new one.
        let log_count = |in_old: usize, in_new: usize| {
            let mut counts = vec![(in_old as f64).ln(); n_old];
            counts.resize(n, (in_new as f64).ln());
            let options = (&anchors.device(), anchors.dtype());
            Tensor::<B, 1>::from_data(TensorData::new(counts, [n]), options)
        };
        let (old_count, new_count) = (log_count(n_old - 1, n_old), log_count(n_new, n_new - 1));
        let log_sum = |first: usize, n| {
            let noise = positives.clone().narrow(0, first, n);
            log_sum(anchors.clone(), noise, temperature, Some(first as isize))
        };
        Self {
            log_noise_old: log_sum(0, n_old) - old_count,
            log_noise_new: log_sum(n_old, n_new) - new_count,
            positive: positive_logits(anchors, positives, temperature),
        }
    }
}

/// log f(aᵢ, bᵢ) of normalised rows.
pub(crate) fn positive_logits<B: Backend>(
    anchors: Tensor<B, 2>,
    positives: Tensor<B, 2>,
    temperature: f64,
) -> Tensor<B, 1> {
    assert_eq!(anchors.dims(), positives.dims(), "one positive an anchor");
    (anchors * positives).sum_dim(1).squeeze_dim(1) / temperature
}

/// log of the mean of f(aᵢ, bⱼ) over j ≠ i, of normalised rows.
pub(crate) fn log_noise_in_batch<B: Backend>(
    anchors: Tensor<B, 2>,
    positives: Tensor<B, 2>,
    temperature: f64,
) -> Tensor<B, 1> {
    assert_eq!(anchors.dims(), positives.dims(), "one positive an anchor");
    let [n, _] = anchors.dims();
    assert!(
        n >= 2,
        "in-batch negatives need a batch of at least 2, found {n}"
    );
    log_sum(anchors, positives, temperature, Some(0)) - ((n - 1) as f64).ln()
}
