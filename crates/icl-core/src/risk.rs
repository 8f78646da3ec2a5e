//! The exact risk: what the objective would be with every pair of the data in the expectation.

use burn::tensor::{Tensor, TensorData, backend::Backend};
use serde::{Deserialize, Serialize};

use crate::bias::{NoiseLosses, Part, RiskBound, Strategy};
use crate::contrast::positive_logits;
use crate::host::host_values;
use crate::log_noise::log_sum_value;
use crate::log_space::log_add_exp;
use crate::loss::nce_i;
use crate::similarity::normalize;
use crate::{Contrast, GrowthRatio};

/// Rows and columns of similarities that are held at once: 2²⁰ of them, whatever the data's size.
const CHUNK_ROWS: usize = 512;
const CHUNK_COLUMNS: usize = 2048;

/// The exact risk R(θ; X′) and what stands beside it, in nats.
///
/// All are means over samples of losses whose noise expectation runs over all pairs of the data
/// without self: E_X over the other old samples, E_ΔX over the other new ones, mixed by Eq. 27. So
/// Theorem 1 holds sample by sample, `old` = `nce1_old` + `nce2_old`.
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
    /// α·R_old, Theorem 2's bound.
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
    /// Largest |L^{I,X} + L^{II} − L^{I,X′}| over X: Theorem 1's residual, 0 to rounding.
    pub theorem1_residual: f64,
}

/// The exact risk of embeddings of X′: `anchors` and `positives` `[n, d]`, of which the first
/// `n_old` rows are old data. `negatives` is K; it and τ must be numbers above 0, which is not checked
/// here.
///
/// Similarities are made in chunks, so memory is that of the embeddings plus a few MiB.
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
    let [n, _] = anchors.dims();
    let n_new = n.saturating_sub(n_old);
    assert!(
        n_old >= 2 && n_new >= 2,
        "the exact risk needs 2 old and 2 new rows, found {n_old} and {n_new}"
    );
    let alpha = GrowthRatio::from_counts(n_old, n_new);
    let (anchors, positives) = (normalize(anchors), normalize(positives));
    let log_noise = |columns| log_noise_of(&anchors, &positives, columns, temperature);
    let losses = NoiseLosses::new(
        &Contrast {
            log_noise_old: log_noise(0..n_old),
            log_noise_new: log_noise(n_old..n),
            positive: positive_logits(anchors.clone(), positives.clone(), temperature),
        },
        negatives,
        alpha,
    );
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let all = host_values(losses.all.clone());
    let bias = |strategy, part| host_values(losses.bias(strategy, part));
    let nce1_old = mean(&host_values(losses.old.clone())[..n_old]);
    ExactRisk {
        all: mean(&all),
        old: mean(&all[..n_old]),
        new: mean(&all[n_old..]),
        nce1_old,
        bound: RiskBound::new(nce1_old, alpha).bound,
        nce2_old: mean(&host_values(losses.nce_ii.clone())[..n_old]),
        change_ratio_old: mean(
            &host_values(losses.log_change_ratio.clone())[..n_old]
                .iter()
                .map(|log_r| log_r.exp())
                .collect::<Vec<_>>(),
        ),
        bias_inference_old: mean(&bias(Strategy::Inference, Part::Old)[..n_old]),
        bias_inference_new: mean(&bias(Strategy::Inference, Part::New)[n_old..]),
        bias_fine_tuning_new: mean(&bias(Strategy::FineTuning, Part::New)[n_old..]),
        theorem1_residual: bias(Strategy::Icl, Part::Old)[..n_old]
            .iter()
            .fold(0.0, |largest, residual| residual.abs().max(largest)),
    }
}

/// The exact risk of one population, as before any new data arrive: the mean of NCE-I over all rows
/// of `anchors` and `positives` `[n, d]`, the noise expectation over all pairs without self.
///
/// # Panics
/// If the shapes differ or n < 2.
pub fn exact_nce_i<B: Backend>(
    anchors: Tensor<B, 2>,
    positives: Tensor<B, 2>,
    temperature: f64,
    negatives: f64,
) -> f64 {
    let [n, _] = anchors.dims();
    assert!(n >= 2, "the exact risk needs at least 2 rows, found {n}");
    let (anchors, positives) = (normalize(anchors), normalize(positives));
    let log_noise = log_noise_of(&anchors, &positives, 0..n, temperature);
    let positive = positive_logits(anchors, positives, temperature);
    host_values(nce_i(positive, log_noise, negatives))
        .iter()
        .sum::<f64>()
        / n as f64
}

/// log of the mean of f(aᵢ, bⱼ) over the columns j ≠ i, of normalised rows, in chunks: `[n]`.
fn log_noise_of<B: Backend>(
    anchors: &Tensor<B, 2>,
    positives: &Tensor<B, 2>,
    columns: std::ops::Range<usize>,
    temperature: f64,
) -> Tensor<B, 1> {
    let [n, _] = anchors.dims();
    let device = anchors.device();
    let chunks = (0..n).step_by(CHUNK_ROWS).map(|row| {
        let n_rows = CHUNK_ROWS.min(n - row);
        let chunk = anchors.clone().narrow(0, row, n_rows);
        let sums = columns.clone().step_by(CHUNK_COLUMNS).map(|column| {
            let n_columns = CHUNK_COLUMNS.min(columns.end - column);
            let noise = positives.clone().narrow(0, column, n_columns);
            let own = column as isize - row as isize;
            log_sum_value(chunk.clone(), noise, temperature, Some(own))
        });
        let sum = sums.reduce(log_add_exp).expect("at least two columns");
        let counts: Vec<f64> = (row..row + n_rows)
            .map(|id| ((columns.len() - usize::from(columns.contains(&id))) as f64).ln())
            .collect();
        let options = (&device, sum.dtype());
        sum - Tensor::from_data(TensorData::new(counts, [n_rows]), options)
    });
    Tensor::cat(chunks.collect(), 0)
}
