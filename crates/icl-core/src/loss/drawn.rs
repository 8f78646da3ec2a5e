//! NCE-I with noise that is drawn for each anchor (Wu et al., 2022, Eq. 1 and 8).

use std::ops::Range;

use burn::tensor::{Tensor, backend::Backend};

use super::info_nce::nce_i;
use crate::contrast::similarity::normalize;
use crate::contrast::terms::{assert_paired, positive_logits, some};
use crate::contrast::{catalogue_log_noise, drawn_log_noise_in_batch};
use crate::{Draws, PairEmbeddings};

/// Computes NCE-I for each anchor of a batch, in nats, with negatives that are drawn from the positives of the other
/// anchors: `[n, d]`, `[n, d]` → `[n]`.
///
/// ```text
/// L = −log( f⁺ / (f⁺ + Σ_{j ∈ 𝒩ᵢ} f(xᵢ, xⱼ⁺)) )        |𝒩ᵢ| = kᵢ            (ANS, 1)
/// ```
///
/// It is 0, with gradient 0, for an anchor that draws no noise. `temperature` is τ; it must be above 0, which is not
/// checked. See [`Draws`] for the draws and for batches of fewer than kᵢ noise samples.
///
/// # Panics
/// If the shapes differ, n < 2, or the number of draws is not n.
pub fn drawn_nce_i<B: Backend>(
    anchors: Tensor<B, 2>,
    positives: Tensor<B, 2>,
    temperature: f64,
    draws: &Draws,
) -> Tensor<B, 1> {
    let rows = 0..anchors.dims()[0];
    drawn_nce_i_rows(anchors, positives, rows, temperature, draws)
}

/// Computes NCE-I for some anchors of a batch, those of n′ `rows`, as [`drawn_nce_i`] does for all: `[n, d]`, `[n, d]`
/// → `[n′]`. The draws are those of all anchors.
///
/// # Panics
/// As [`drawn_nce_i`], and if a row does not exist.
pub fn drawn_nce_i_rows<B: Backend>(
    anchors: Tensor<B, 2>,
    positives: Tensor<B, 2>,
    rows: Range<usize>,
    temperature: f64,
    draws: &Draws,
) -> Tensor<B, 1> {
    assert_paired(&anchors, &positives);
    let (anchors, positives) = (normalize(some(anchors, &rows)), normalize(positives));
    let positive = some(positives.clone(), &rows);
    let positive = positive_logits(anchors.clone(), positive, temperature);
    let log_noise = drawn_log_noise_in_batch(anchors, positives, rows, temperature, draws);
    nce_i(positive, log_noise, draws.negatives())
}

/// Computes NCE-I for each anchor of a batch of pairs, in nats, with the noise of the pairs' catalogue: `[n]`. Without
/// draws the noise term is K times the mean over all rows of the catalogue that are not excluded for the anchor; with
/// draws it is the sum over those that the anchor draws.
///
/// `temperature` is τ and `negatives` is K; they must be above 0, which is not checked. Draws must be of the same K.
///
/// # Panics
/// If the pairs have no catalogue, and as [`catalogue_log_noise`].
pub fn catalogue_nce_i<B: Backend>(
    pairs: PairEmbeddings<B>,
    temperature: f64,
    negatives: f64,
    draws: Option<&Draws>,
) -> Tensor<B, 1> {
    let Some(catalogue) = pairs.catalogue else {
        panic!("the pairs: found no catalogue, expected candidates for their negatives");
    };
    let (anchors, positives) = (normalize(pairs.anchors), normalize(pairs.positives));
    let positive = positive_logits(anchors.clone(), positives, temperature);
    let log_noise = catalogue_log_noise(
        anchors,
        catalogue.embeddings,
        &catalogue.excluded,
        temperature,
        draws,
    );
    nce_i(positive, log_noise, negatives)
}
