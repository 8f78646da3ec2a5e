//! The terms of the losses: the similarity of each anchor to its positive, and its mean similarity to
//! the old and to the new noise.

use std::ops::Range;

use burn::tensor::{Tensor, backend::Backend};
use icl_kernels::rows::{LeftOut, log_sum_exp};

use super::log_space::log_counts;
use super::similarity::normalize;

/// The three terms from which every loss of the paper is computed, for each anchor, as logarithms.
///
/// ```text
/// positive       log f(xᵢ, xᵢ⁺) = sim(xᵢ, xᵢ⁺)/τ
/// log_noise_old  log E_{x⁻ ~ p(X)}  f(xᵢ, x⁻)
/// log_noise_new  log E_{x⁻ ~ p(ΔX)} f(xᵢ, x⁻)
/// ```
///
/// The expectations are estimated by means over the samples given. The number K of negatives is a
/// factor of the formulas (Eq. 1), independent of the number of samples, and enters in the losses. The
/// temperature τ must be a finite number above 0; the configurations of the losses check it, this type
/// does not.
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
    /// Computes the terms of `anchors` with `positives` `[n, d]` from explicit noise samples: those of
    /// p(X) `[n_old, d]` and of p(ΔX) `[n_new, d]`.
    ///
    /// # Panics
    /// If the shapes of anchors and positives differ, if the widths d differ, or if there is no sample
    /// of either noise.
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

    /// Computes the terms of a mixed batch, whose first `n_old` rows of `anchors` and `positives`
    /// `[n, d]` are old data and whose other rows are new.
    ///
    /// The noise samples of an anchor are the positives of all other anchors: those of old anchors are
    /// samples of p(X), those of new anchors of p(ΔX).
    ///
    /// # Panics
    /// If the shapes differ or the batch holds fewer than 2 old or 2 new rows.
    pub fn in_batch(
        anchors: Tensor<B, 2>,
        positives: Tensor<B, 2>,
        n_old: usize,
        temperature: f64,
    ) -> Self {
        let rows = 0..anchors.dims()[0];
        Self::in_batch_rows(anchors, positives, n_old, rows, temperature)
    }

    /// Computes the terms of some `rows` of a mixed batch, as [`in_batch`](Self::in_batch) does for all: n′ values of
    /// each term for n′ rows. All rows are noise.
    ///
    /// # Panics
    /// As [`in_batch`](Self::in_batch), and if a row does not exist.
    pub fn in_batch_rows(
        anchors: Tensor<B, 2>,
        positives: Tensor<B, 2>,
        n_old: usize,
        rows: Range<usize>,
        temperature: f64,
    ) -> Self {
        assert_paired(&anchors, &positives);
        let n_new = of_new(anchors.dims()[0], n_old);
        let (anchors, positives) = (normalize(some(anchors, &rows)), normalize(positives));
        // An anchor is no negative of itself, so it has one negative fewer in its own part.
        let log_count = |of_old: usize, of_new: usize| {
            let of_row = |row| if row < n_old { of_old } else { of_new };
            log_counts(rows.clone().map(of_row), &anchors)
        };
        let (old_count, new_count) = (log_count(n_old - 1, n_old), log_count(n_new, n_new - 1));
        let log_sum = |first: usize, n| {
            let noise = positives.clone().narrow(0, first, n);
            let own = LeftOut::Own(first as isize - rows.start as isize);
            log_sum_exp(anchors.clone(), noise, temperature, own)
        };
        Self {
            log_noise_old: log_sum(0, n_old) - old_count,
            log_noise_new: log_sum(n_old, n_new) - new_count,
            positive: positive_logits(anchors.clone(), some(positives.clone(), &rows), temperature),
        }
    }
}

/// Returns the number of new rows of a mixed batch of `n`, and asserts that old and new rows have noise of their own
/// part.
#[track_caller]
pub(super) fn of_new(n: usize, n_old: usize) -> usize {
    let n_new = n.saturating_sub(n_old);
    assert!(
        n_old >= 2 && n_new >= 2,
        "a mixed batch needs at least 2 old and 2 new rows, found {n_old} and {n_new}"
    );
    n_new
}

/// Returns some rows of a tensor, or the tensor itself, without an operation, if these are all of its rows.
pub(crate) fn some<B: Backend>(tensor: Tensor<B, 2>, rows: &Range<usize>) -> Tensor<B, 2> {
    match *rows == (0..tensor.dims()[0]) {
        true => tensor,
        false => tensor.narrow(0, rows.start, rows.len()),
    }
}

/// Asserts that each anchor has a positive.
#[track_caller]
pub(crate) fn assert_paired<B: Backend>(anchors: &Tensor<B, 2>, positives: &Tensor<B, 2>) {
    assert_eq!(
        anchors.dims(),
        positives.dims(),
        "anchors (left) and positives (right) must have the same shape"
    );
}

/// Returns log f(aᵢ, bᵢ) of normalised rows.
pub(crate) fn positive_logits<B: Backend>(
    anchors: Tensor<B, 2>,
    positives: Tensor<B, 2>,
    temperature: f64,
) -> Tensor<B, 1> {
    assert_paired(&anchors, &positives);
    (anchors * positives).sum_dim(1).squeeze_dim(1) / temperature
}

/// Returns the log of the mean of f(aᵢ, nⱼ) over j, of normalised rows `[n, d]` and `[m, d]`: `[n]`.
///
/// # Panics
/// If there is no noise sample or the widths differ.
pub(crate) fn log_noise<B: Backend>(
    anchors: Tensor<B, 2>,
    noise: Tensor<B, 2>,
    temperature: f64,
) -> Tensor<B, 1> {
    let [n, _] = noise.dims();
    assert!(n > 0, "an expectation over noise needs at least one sample");
    log_sum_exp(anchors, noise, temperature, LeftOut::None) - (n as f64).ln()
}

/// Returns the log of the mean of f(aᵢ, bⱼ) over j ≠ i, of normalised rows: of the anchors of some `rows`, over all
/// positives.
pub(crate) fn log_noise_in_batch<B: Backend>(
    anchors: Tensor<B, 2>,
    positives: Tensor<B, 2>,
    rows: &Range<usize>,
    temperature: f64,
) -> Tensor<B, 1> {
    let n_others = others(&positives) as f64;
    let own = LeftOut::Own(-(rows.start as isize));
    log_sum_exp(anchors, positives, temperature, own) - n_others.ln()
}

/// Returns the number of negatives of each anchor in a batch, and asserts that there is one.
#[track_caller]
pub(super) fn others<B: Backend>(batch: &Tensor<B, 2>) -> usize {
    let [n, _] = batch.dims();
    assert!(
        n >= 2,
        "in-batch negatives need a batch of at least 2, found {n}"
    );
    n - 1
}
