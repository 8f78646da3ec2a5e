//! The exact risk: the objective with all pairs of the data in its expectation.

use burn::tensor::{Tensor, backend::Backend};
use serde::{Deserialize, Serialize};

use super::bias::{NoiseLosses, Strategy};
use super::info_nce::nce_i;
use super::noise_of_rows::noise_of_rows;
use crate::contrast::ranks_of;
use crate::contrast::similarity::normalize;
use crate::contrast::terms::positive_logits;
use crate::negatives::Ranks;
use crate::{Alone, ByOrigin, Contrast, Error, Group, GrowthRatio, Origin, host_values};

/// Message of the panic that cannot occur: a group of one returns no error.
pub(super) const ALONE: &str = "no other member could leave";

/// Exact risk R(θ; X′) and the quantities of the theorems, in nats.
///
/// Each is a mean over samples of a loss whose noise expectations run over all pairs of the data
/// without self: E_X over the other old samples, E_ΔX over the other new samples, mixed by Eq. 27.
/// Theorem 1 therefore holds sample by sample, and `old` = `nce1_old` + `nce2_old`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ExactRisk {
    /// Mean of L^{I,X′} over X′.
    pub all: f64,
    /// Mean of L^{I,X′} over X.
    pub old: f64,
    /// Mean of L^{I,X′} over ΔX.
    pub new: f64,
    /// Mean of L^{I,X} over X: R_old of Theorem 2.
    pub nce1_old: f64,
    /// Bound α·R_old of Theorem 2 on the difference of empirical risks.
    ///
    /// The paper lets R_old go to 0 because training has minimised it. In practice R_old is 0.7 to 2.5
    /// nats at the end of training on the old data.
    pub bound: f64,
    /// Mean of L^{II} over X.
    pub nce2_old: f64,
    /// Mean change ratio r (Eq. 6) over X.
    pub change_ratio_old: f64,
    /// Bias of inference, and of fine-tuning, on X: mean of L^{I,X} − L^{I,X′}.
    pub bias_inference_old: f64,
    /// Bias of inference on ΔX: mean of −L^{I,X′}.
    pub bias_inference_new: f64,
    /// Bias of fine-tuning on ΔX: mean of L^{I,ΔX} − L^{I,X′}.
    pub bias_fine_tuning_new: f64,
    /// Residual of Theorem 1, 0 to rounding: largest |L^{I,X} + L^{II} − L^{I,X′}| over X.
    pub theorem1_residual: f64,
    /// AUC over X′: mean over anchors of the share of the noise, all other samples, that is less similar to the anchor
    /// than its positive ([`Ranks::auc`]). It depends neither on τ nor on K. `None` in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auc_all: Option<f64>,
    /// AUC of the anchors in X, among the same noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auc_old: Option<f64>,
    /// AUC of the anchors in ΔX, among the same noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auc_new: Option<f64>,
}

/// Loss and rank of each row of an exact risk.
#[derive(Debug, Clone, PartialEq)]
pub struct RiskRows {
    /// Losses in nats: L^{I,X′} of [`exact_risk_with_rows`], NCE-I of [`exact_nce_i_rows`].
    pub losses: Vec<f64>,
    /// Ranks of the positives among the noise, which is all other rows.
    pub ranks: Ranks,
}

impl ExactRisk {
    /// Returns the mean of L^{I,X′} over X′, over X and over ΔX.
    pub fn by_origin(&self) -> ByOrigin<f64> {
        ByOrigin {
            all: self.all,
            old: self.old,
            new: self.new,
        }
    }
}

/// Computes the exact risk of embeddings of X′: `anchors` and `positives` `[n, d]`, of which the first
/// `n_old` rows are old data.
///
/// `negatives` is K. K and τ must be above 0, which is not checked. Similarities are computed in chunks,
/// so the memory needed is that of the embeddings plus a few MiB.
///
/// # Panics
/// If the shapes differ or there are fewer than 2 old or 2 new rows.
pub fn exact_risk<B: Backend>(
    anchors: Tensor<B, 2>,
    positives: Tensor<B, 2>,
    n_old: usize,
    temperature: f64,
    negatives: f64,
) -> ExactRisk {
    exact_risk_with_rows(anchors, positives, n_old, temperature, negatives).0
}

/// Computes the exact risk, and the loss L^{I,X′} and the rank of each row, whose means are the risk and the AUC.
/// Losses of two encoders on the same rows can be compared pair by pair.
///
/// # Panics
/// As [`exact_risk`].
pub fn exact_risk_with_rows<B: Backend>(
    anchors: Tensor<B, 2>,
    positives: Tensor<B, 2>,
    n_old: usize,
    temperature: f64,
    negatives: f64,
) -> (ExactRisk, RiskRows) {
    let n_old = (n_old, 1.0);
    let risk = exact_risk_of_group(&Alone, anchors, positives, n_old, temperature, negatives);
    risk.expect(ALONE)
}

/// Computes the exact risk and its rows by all members of a group, which have the same embeddings and share the rows of
/// the similarities. All get the result of one, to the bit.
///
/// `n_old` also has the weight w of an old row, the number of old samples for which it stands
/// ([`Increment::old_weight`](crate::Increment::old_weight)); without a sample in place of the old data it is 1. It
/// enters the growth ratio and the mean over X′; ranks and AUCs are over the rows.
///
/// ```text
/// α = ΔN / (w·n_old + ΔN)        R(θ; X′) = (w·Σ_X L + Σ_ΔX L) / (w·n_old + ΔN)
/// ```
///
/// # Errors
/// [`Error`] of the kind [`Left`](crate::ErrorKind::Left) if a member has left the group.
///
/// # Panics
/// As [`exact_risk`].
pub fn exact_risk_of_group<B: Backend>(
    group: &dyn Group,
    anchors: Tensor<B, 2>,
    positives: Tensor<B, 2>,
    (n_old, old_weight): (usize, f64),
    temperature: f64,
    negatives: f64,
) -> Result<(ExactRisk, RiskRows), Error> {
    let pairs = [anchors, positives];
    let counted = (n_old, old_weight);
    let (losses, ranks, alpha) = exact_losses(group, pairs, counted, temperature, negatives)?;
    let all = host_values(losses.all.clone());
    let bias = |strategy, origin| host_values(losses.bias(strategy, origin));
    let nce1_old = mean(&host_values(losses.old.clone())[..n_old]);
    let risk = ExactRisk {
        all: weighted_mean(&all, (n_old, old_weight)),
        old: mean(&all[..n_old]),
        new: mean(&all[n_old..]),
        nce1_old,
        // Eq. (46)
        bound: alpha.value() * nce1_old,
        nce2_old: mean(&host_values(losses.nce_ii.clone())[..n_old]),
        change_ratio_old: mean(
            &host_values(losses.log_change_ratio.clone())[..n_old]
                .iter()
                .map(|log_r| log_r.exp())
                .collect::<Vec<_>>(),
        ),
        bias_inference_old: mean(&bias(Strategy::Inference, Origin::Old)[..n_old]),
        bias_inference_new: mean(&bias(Strategy::Inference, Origin::New)[n_old..]),
        bias_fine_tuning_new: mean(&bias(Strategy::FineTuning, Origin::New)[n_old..]),
        theorem1_residual: bias(Strategy::Icl, Origin::Old)[..n_old]
            .iter()
            .fold(0.0, |largest, residual| residual.abs().max(largest)),
        auc_all: Some(ranks.auc()),
        auc_old: Some(ranks.rows(0..n_old).auc()),
        auc_new: Some(ranks.rows(n_old..all.len()).auc()),
    };
    Ok((risk, RiskRows { losses: all, ranks }))
}

/// Computes the losses of all rows with the noise of all pairs, the ranks of the positives among it, and the growth
/// ratio of the rows, of which an old one has a weight.
///
/// # Errors
/// [`Error`] of the kind [`Left`](crate::ErrorKind::Left) if a member has left the group.
///
/// # Panics
/// As [`exact_risk`].
pub(super) fn exact_losses<B: Backend>(
    group: &dyn Group,
    [anchors, positives]: [Tensor<B, 2>; 2],
    (n_old, old_weight): (usize, f64),
    temperature: f64,
    negatives: f64,
) -> Result<(NoiseLosses<B>, Ranks, GrowthRatio), Error> {
    let [n, _] = anchors.dims();
    let n_new = n.saturating_sub(n_old);
    assert!(
        n_old >= 2 && n_new >= 2,
        "the exact risk needs at least 2 old and 2 new rows, found {n_old} and {n_new}"
    );
    let alpha = n_new as f64 / (old_weight * n_old as f64 + n_new as f64);
    let alpha = GrowthRatio::try_new(alpha)?;
    let (anchors, positives) = (normalize(anchors), normalize(positives));
    let cosines = positive_cosines(&anchors, &positives);
    let pairs = [&anchors, &positives];
    let (log_noise_old, mut rivals) = noise_of_rows(group, pairs, &cosines, 0..n_old, temperature)?;
    let (log_noise_new, of_new) = noise_of_rows(group, pairs, &cosines, n_old..n, temperature)?;
    for (sum, other) in rivals.iter_mut().zip(of_new) {
        sum.add(other);
    }
    let losses = NoiseLosses::new(
        &Contrast {
            log_noise_old,
            log_noise_new,
            positive: cosines / temperature,
        },
        negatives,
        alpha,
    );
    Ok((losses, ranks_of(rivals.into_iter(), n - 1), alpha))
}

/// Computes the exact risk of one population, before any new data arrive, in nats: the mean of NCE-I
/// over all rows of `anchors` and `positives` `[n, d]`, with the noise expectation over all pairs
/// without self.
///
/// `negatives` is K. K and τ must be above 0, which is not checked.
///
/// # Panics
/// If the shapes differ or n < 2.
pub fn exact_nce_i<B: Backend>(
    anchors: Tensor<B, 2>,
    positives: Tensor<B, 2>,
    temperature: f64,
    negatives: f64,
) -> f64 {
    mean(&exact_nce_i_rows(anchors, positives, temperature, negatives).losses)
}

/// Computes the losses of which [`exact_nce_i`] is the mean, and the ranks of the positives.
///
/// # Panics
/// As [`exact_nce_i`].
pub fn exact_nce_i_rows<B: Backend>(
    anchors: Tensor<B, 2>,
    positives: Tensor<B, 2>,
    temperature: f64,
    negatives: f64,
) -> RiskRows {
    exact_nce_i_rows_of_group(&Alone, anchors, positives, temperature, negatives).expect(ALONE)
}

/// Computes the losses and ranks of [`exact_nce_i_rows`] by all members of a group, as [`exact_risk_of_group`] does.
///
/// # Errors
/// [`Error`] of the kind [`Left`](crate::ErrorKind::Left) if a member has left the group.
///
/// # Panics
/// As [`exact_nce_i`].
pub fn exact_nce_i_rows_of_group<B: Backend>(
    group: &dyn Group,
    anchors: Tensor<B, 2>,
    positives: Tensor<B, 2>,
    temperature: f64,
    negatives: f64,
) -> Result<RiskRows, Error> {
    let [n, _] = anchors.dims();
    assert!(n >= 2, "the exact risk needs at least 2 rows, found {n}");
    let (anchors, positives) = (normalize(anchors), normalize(positives));
    let cosines = positive_cosines(&anchors, &positives);
    let (log_noise, rivals) =
        noise_of_rows(group, [&anchors, &positives], &cosines, 0..n, temperature)?;
    let positive = cosines / temperature;
    Ok(RiskRows {
        losses: host_values(nce_i(positive, log_noise, negatives)),
        ranks: ranks_of(rivals.into_iter(), n - 1),
    })
}

/// Returns the cosines sim(aᵢ, bᵢ) of normalised rows.
fn positive_cosines<B: Backend>(anchors: &Tensor<B, 2>, positives: &Tensor<B, 2>) -> Tensor<B, 1> {
    // At τ = 1 the logits are cosines.
    positive_logits(anchors.clone(), positives.clone(), 1.0)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the mean of values of which each of the first `n_old` counts as `old_weight` of the others.
pub(super) fn weighted_mean(values: &[f64], (n_old, old_weight): (usize, f64)) -> f64 {
    let (old, new) = values.split_at(n_old);
    let sum = old
        .iter()
        .map(|value| old_weight * value)
        .chain(new.iter().copied());
    sum.sum::<f64>() / (old_weight * n_old as f64 + new.len() as f64)
}
