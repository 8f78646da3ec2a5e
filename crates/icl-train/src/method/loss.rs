//! The loss axis: the loss that a step minimises.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl_core::{
    Contrast, Draws, GrowthRatio, InfoNceConfig, NtXentConfig, Seed, drawn_nce_i_rows,
    log_change_ratio, log_mixed_noise, nce_i, nce_ii,
};
use serde::{Deserialize, Serialize};

use crate::method::error::MethodError;

/// Loss that a step minimises, the loss axis: a contrastive loss, with or without a distillation term.
///
/// ```text
/// L = L_contrastive        or        L = L_contrastive + weight·mean distance(φ(x; θ), φ(x; θ_start))
/// ```
///
/// The text (`Display`, `FromStr`) is that of the [`LossKind`], with the suffix `+distillation` for the
/// term.
///
/// ```
/// use icl_train::{Loss, LossKind};
///
/// let loss: Loss = "corrected+distillation".parse()?;
/// assert_eq!(loss, LossKind::Corrected.with_distillation());
/// # Ok::<(), icl_train::MethodError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// Contrastive loss.
    pub kind: LossKind,
    /// Whether the loss has a distillation term: the weighted mean distance between the embeddings of
    /// the encoder and those of the encoder at the start of the run. Weight and distance are
    /// [`TrainingSettings::distillation_weight`](crate::TrainingSettings::distillation_weight) and
    /// [`distillation_distance`](crate::TrainingSettings::distillation_distance).
    pub distillation: bool,
}

/// Contrastive loss of a batch. The text of a choice is given in parentheses below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LossKind {
    /// NCE-I (`info-nce`; Eq. 1) under the noise distribution that the [`Sampling`](crate::Sampling)
    /// implies: the noise samples of an anchor are the other samples of its batch.
    InfoNce,
    /// Eq. 9 as published (`published`): NCE-II (Eq. 8) on X and NCE-I under p(X′) (Eq. 2) on ΔX,
    /// divided by the number of samples N + ΔN.
    ///
    /// ```text
    /// L = 1/(N + ΔN)·(Σ_{x ∈ X} L^{II}(x) + Σ_{x ∈ ΔX} L^{I,X′}(x))
    /// ```
    ///
    /// Deviation from the paper: the division, which makes learning rates comparable with those of other
    /// losses. Eq. 9 drops NCE-I under p(X) on X, whose gradient is 0 only at a minimum of that loss.
    Published,
    /// Eq. 9 with the dropped term (`corrected`): NCE-I under p(X) plus NCE-II on X, and NCE-I under
    /// p(X′) on ΔX. By Theorem 1 the sum on X is NCE-I under p(X′) at every θ.
    ///
    /// ```text
    /// L = 1/(N + ΔN)·(Σ_{x ∈ X} (L^{I,X}(x) + L^{II}(x)) + Σ_{x ∈ ΔX} L^{I,X′}(x))
    /// ```
    Corrected,
}

impl From<LossKind> for Loss {
    fn from(kind: LossKind) -> Self {
        Self {
            kind,
            distillation: false,
        }
    }
}

impl LossKind {
    const ALL: [Self; 3] = [Self::InfoNce, Self::Published, Self::Corrected];

    /// Returns the loss with the distillation term.
    pub fn with_distillation(self) -> Loss {
        Loss {
            kind: self,
            distillation: true,
        }
    }
}

impl Loss {
    /// Returns whether the loss separates the noise of old data from that of new data, as both forms of
    /// Eq. 9 do. Batches of such a loss hold at least two old samples and two new ones.
    pub fn separates_noise(self) -> bool {
        self.kind != LossKind::InfoNce
    }
}

impl fmt::Display for LossKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InfoNce => "info-nce",
            Self::Published => "published",
            Self::Corrected => "corrected",
        })
    }
}

/// Writes `info-nce`, `published` or `corrected`, and `+distillation` if the loss has the term.
impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        f.write_str(if self.distillation { DISTILLATION } else { "" })
    }
}

/// Suffix of a loss with the distillation term.
const DISTILLATION: &str = "+distillation";

impl FromStr for Loss {
    type Err = MethodError;

    fn from_str(text: &str) -> Result<Self, MethodError> {
        let (kind, distillation) = match text.strip_suffix(DISTILLATION) {
            Some(kind) => (kind, true),
            None => (text, false),
        };
        let known = |known: &LossKind| known.to_string() == kind;
        match LossKind::ALL.into_iter().find(known) {
            Some(kind) => Ok(Self { kind, distillation }),
            None => Err(MethodError::Value {
                axis: "loss",
                found: text.to_owned(),
                expected: "info-nce, published or corrected, with or without +distillation, or none",
            }),
        }
    }
}

/// Noise samples of an anchor under NCE-I in a batch of n samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseSet {
    /// Second views of the other samples, n − 1 of them; anchors are the first views. This is the paper's
    /// loss.
    #[serde(rename = "other")]
    OtherViews,
    /// Both views of the other samples, 2n − 2 of them; anchors are the views of both sides
    /// ([`NtXent`](icl_core::NtXent)), as in SimCLR and DACL. The published loss has K = 2n − 2.
    ///
    /// Only NCE-I can use it: the other losses separate old noise from new.
    #[serde(rename = "both")]
    BothViews,
}

/// Anchors of a batch whose losses are computed, if batches separate old samples from new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchors {
    /// All samples, weighted as in Eq. 9.
    All,
    /// Old samples, averaged: a support batch (Eq. 11).
    Old,
    /// New samples, averaged: a query batch (Eq. 12).
    New,
}

/// Embeddings of a batch.
#[derive(Debug, Clone)]
pub(crate) struct EmbeddedBatch<B: Backend> {
    /// Embeddings of the first views `[n, d]`.
    pub(crate) anchors: Tensor<B, 2>,
    /// Embeddings of the second views `[n, d]`.
    pub(crate) positives: Tensor<B, 2>,
    /// Number of rows, from the first on, that are old data, if batches separate old samples from new.
    pub(crate) n_old: usize,
}

/// Numbers on which a contrastive loss depends beside the batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LossSettings {
    /// Temperature τ.
    pub(crate) temperature: f64,
    /// Number of negatives K in the formulas.
    pub(crate) negatives: f64,
    /// Seed of the noise samples that each anchor draws; `None` if all noise samples of the batch are weighted.
    pub(crate) draws: Option<Seed>,
    /// Noise samples of NCE-I.
    pub(crate) noise_set: NoiseSet,
    /// Growth ratio α of the data.
    pub(crate) alpha: GrowthRatio,
}

impl LossKind {
    /// Computes the contrastive loss `[1]` of a batch in nats, from its embeddings. NCE-I treats the batch
    /// as one population; the other losses separate its old samples from its new ones.
    pub(crate) fn of_batch<B: Backend>(
        self,
        batch: EmbeddedBatch<B>,
        counted: Anchors,
        settings: LossSettings,
    ) -> Tensor<B, 1> {
        let (n_old, n) = (batch.n_old, batch.anchors.dims()[0]);
        let losses = self.of_anchors(batch, counted, 0..n, settings);
        match counted {
            Anchors::All if self != Self::InfoNce => {
                weighted(losses, stratum_weights(n_old, n - n_old, settings.alpha))
            }
            _ => losses.mean(),
        }
    }

    /// Computes the part `[1]` of the same loss of all anchors that those of some `rows` have. The parts of all rows add up to the
    /// loss, and so do their gradients at the embeddings.
    pub(crate) fn of_rows<B: Backend>(
        self,
        batch: EmbeddedBatch<B>,
        rows: Range<usize>,
        settings: LossSettings,
    ) -> Tensor<B, 1> {
        let (n_old, n) = (batch.n_old, batch.anchors.dims()[0]);
        let losses = self.of_anchors(batch, Anchors::All, rows.clone(), settings);
        let weights = match self {
            Self::InfoNce => {
                // One for each view that is an anchor.
                let n_losses = losses.dims()[0];
                vec![rows.len() as f64 / (n * n_losses) as f64; n_losses]
            }
            _ => stratum_weights(n_old, n - n_old, settings.alpha)[rows].to_vec(),
        };
        weighted(losses, weights)
    }

    /// Computes the loss of each anchor that is counted and in some `rows`; NCE-I counts all. With both views as anchors there are
    /// twice as many losses.
    fn of_anchors<B: Backend>(
        self,
        batch: EmbeddedBatch<B>,
        counted: Anchors,
        rows: Range<usize>,
        settings: LossSettings,
    ) -> Tensor<B, 1> {
        let LossSettings {
            temperature,
            negatives,
            draws,
            noise_set,
            alpha,
        } = settings;
        let EmbeddedBatch {
            anchors,
            positives,
            n_old,
        } = batch;
        let draws = draws.map(|seed| Draws::new(negatives, anchors.dims()[0], seed));
        if self == Self::InfoNce {
            return match &draws {
                _ if noise_set == NoiseSet::BothViews => NtXentConfig::new()
                    .with_temperature(temperature)
                    .with_negatives(Some(negatives))
                    .init()
                    .forward_rows(anchors, positives, rows),
                Some(draws) => drawn_nce_i_rows(anchors, positives, rows, temperature, draws),
                None => InfoNceConfig::new()
                    .with_temperature(temperature)
                    .with_negatives(Some(negatives))
                    .init()
                    .forward_rows(anchors, positives, rows),
            };
        }
        let rows = counted.among(rows, n_old);
        let (own, at) = (rows.clone(), temperature);
        let contrast = match &draws {
            Some(draws) => Contrast::in_batch_rows_drawn(anchors, positives, n_old, own, at, draws),
            None => Contrast::in_batch_rows(anchors, positives, n_old, own, at),
        };
        let under_all = |contrast: Contrast<B>| {
            let noise = log_mixed_noise(contrast.log_noise_old, contrast.log_noise_new, alpha);
            nce_i(contrast.positive, noise, negatives)
        };
        if self == Self::Corrected {
            // L^{I,X} + L^{II} = L^{I,X′} at every sample (Theorem 1), and the right side is computed.
            return under_all(contrast);
        }
        // Eq. (9)
        let n_old_rows = n_old.clamp(rows.start, rows.end) - rows.start;
        let of_old = |contrast| nce_ii(log_change_ratio(&contrast, negatives), alpha);
        match n_old_rows {
            0 => under_all(contrast),
            n if n == rows.len() => of_old(contrast),
            n => {
                let old = of_old(narrow(contrast.clone(), 0, n));
                let new = under_all(narrow(contrast, n, rows.len() - n));
                Tensor::cat(vec![old, new], 0)
            }
        }
    }
}

impl Anchors {
    /// Returns the rows that are counted among some of a batch, of which the first `n_old` are old.
    fn among(self, rows: Range<usize>, n_old: usize) -> Range<usize> {
        match self {
            Self::All => rows,
            Self::Old => rows.start..rows.end.min(n_old),
            Self::New => rows.start.max(n_old)..rows.end,
        }
    }
}

/// Returns the sum `[1]` of losses `[n]` with these weights.
fn weighted<B: Backend>(losses: Tensor<B, 1>, weights: Vec<f64>) -> Tensor<B, 1> {
    let (device, dtype) = (losses.device(), losses.dtype());
    let weights = TensorData::new(weights, losses.dims());
    (losses * Tensor::from_data(weights, (&device, dtype))).sum()
}

/// Returns `n` rows of a contrast from row `first` on.
fn narrow<B: Backend>(contrast: Contrast<B>, first: usize, n: usize) -> Contrast<B> {
    Contrast {
        positive: contrast.positive.narrow(0, first, n),
        log_noise_old: contrast.log_noise_old.narrow(0, first, n),
        log_noise_new: contrast.log_noise_new.narrow(0, first, n),
    }
}

/// Returns the weights with which a sum over a batch estimates the mean over X′: the old rows share 1 − α
/// and the new rows α, whatever the proportion in the batch.
fn stratum_weights(n_old: usize, n_new: usize, alpha: GrowthRatio) -> Vec<f64> {
    let mut weights = vec![(1.0 - alpha.value()) / n_old as f64; n_old];
    weights.resize(n_old + n_new, alpha.value() / n_new as f64);
    weights
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

    fn settings(alpha: f64) -> LossSettings {
        LossSettings {
            temperature: 0.1,
            negatives: 31.0,
            draws: None,
            noise_set: NoiseSet::OtherViews,
            alpha: GrowthRatio::try_new(alpha).unwrap(),
        }
    }

    #[test]
    fn every_loss_reads_what_it_writes() {
        for kind in LossKind::ALL {
            for loss in [kind.into(), kind.with_distillation()] {
                assert_eq!(loss.to_string().parse::<Loss>(), Ok(loss));
            }
        }
        let error = "nce+distillation".parse::<Loss>().unwrap_err().to_string();
        assert!(
            error.contains("found nce+distillation, expected info-nce"),
            "{error}"
        );
    }

    #[test]
    fn the_objectives_are_the_sums_of_equation_9() {
        let (anchors, positives, n_old) = (draw(9, 4, 1), draw(9, 4, 2), 5);
        // Not the proportion of this batch: the weights are those of the data.
        let settings = settings(0.3);
        let alpha = settings.alpha;
        let contrast = Contrast::in_batch(
            anchors.clone(),
            positives.clone(),
            n_old,
            settings.temperature,
        );
        let losses = NoiseLosses::new(&contrast, settings.negatives, alpha);
        let [nce_i_old, nce_i_all, nce_ii] =
            [losses.old, losses.all, losses.nce_ii].map(|values| to_vec(&values));
        let batch = || EmbeddedBatch {
            anchors: anchors.clone(),
            positives: positives.clone(),
            n_old,
        };
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let new = 0.3 * mean(&nce_i_all[n_old..]);
        let published = 0.7 * mean(&nce_ii[..n_old]) + new;
        let corrected = published + 0.7 * mean(&nce_i_old[..n_old]);
        for (kind, expected) in [
            (LossKind::Published, published),
            (LossKind::Corrected, corrected),
        ] {
            let loss = kind.of_batch(batch(), Anchors::All, settings);
            assert_close(&to_vec(&loss), &[expected], 1e-5);
        }
        // Support and query are the plain means of their own anchors.
        let part = |kind: LossKind, counted| to_vec(&kind.of_batch(batch(), counted, settings))[0];
        for (kind, counted, expected) in [
            (LossKind::Published, Anchors::Old, mean(&nce_ii[..n_old])),
            (LossKind::Corrected, Anchors::Old, mean(&nce_i_all[..n_old])),
            (LossKind::Published, Anchors::New, mean(&nce_i_all[n_old..])),
            (LossKind::Corrected, Anchors::New, mean(&nce_i_all[n_old..])),
        ] {
            assert_close(&[part(kind, counted)], &[expected], 1e-5);
        }
    }

    /// Every view is an anchor, against both views of the other samples, by a double loop.
    #[test]
    fn the_noise_of_both_views_is_nt_xent() {
        let (n, d, settings) = (5, 4, settings(0.3));
        let views = [draw(n, d, 1), draw(n, d, 2)];
        let rows: Vec<f64> = views.iter().flat_map(to_vec).collect();
        let row = |at: usize| &rows[d * at..d * (at + 1)];
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let f = |i: usize, j: usize| {
            let (a, b) = (row(i), row(j));
            (dot(a, b) / (dot(a, a) * dot(b, b)).sqrt() / settings.temperature).exp()
        };
        let loss = |i: usize| {
            let positive = (i + n) % (2 * n);
            let noise = (0..2 * n).filter(|&k| k != i && k != positive);
            let mean = noise.map(|k| f(i, k)).sum::<f64>() / (2 * n - 2) as f64;
            (settings.negatives * mean / f(i, positive)).ln_1p()
        };
        let expected = (0..2 * n).map(loss).sum::<f64>() / (2 * n) as f64;
        let [anchors, positives] = views;
        let batch = EmbeddedBatch {
            anchors,
            positives,
            n_old: 0,
        };
        let settings = LossSettings {
            noise_set: NoiseSet::BothViews,
            ..settings
        };
        let found = LossKind::InfoNce.of_batch(batch, Anchors::All, settings);
        assert_close(&to_vec(&found), &[expected], 1e-5);
    }

    #[test]
    fn the_noise_of_a_batch_has_gradients() {
        type A = icl_core::testing::TestAutodiff;
        let leaf = |seed| Tensor::<A, 2>::from_inner(draw(9, 4, seed)).require_grad();
        let settings = settings(0.3);
        for kind in [LossKind::Published, LossKind::Corrected] {
            for (counted, others) in [(Anchors::Old, 20..36), (Anchors::New, 0..20)] {
                let (anchors, positives) = (leaf(1), leaf(2));
                let batch = EmbeddedBatch {
                    anchors: anchors.clone(),
                    positives: positives.clone(),
                    n_old: 5,
                };
                let loss = kind.of_batch(batch, counted, settings);
                let gradients = loss.backward();
                let [of_anchors, of_positives] =
                    [anchors, positives].map(|x| to_vec(&x.grad(&gradients).unwrap()));
                assert!(of_anchors[others.clone()].iter().all(|&g| g == 0.0));
                assert!(of_positives[others].iter().all(|&g| g != 0.0));
            }
        }
    }

    /// Losses and gradients of rows that cut old and new anchors unevenly, for every noise that an anchor may have.
    #[test]
    fn the_parts_of_some_rows_add_up_to_the_loss() {
        type A = icl_core::testing::TestAutodiff;
        let n = 11;
        let plain = settings(0.3);
        let drawn = LossSettings {
            negatives: 2.5,
            draws: Some(Seed::new(4)),
            ..plain
        };
        let both = LossSettings {
            noise_set: NoiseSet::BothViews,
            ..plain
        };
        let part = |kind: LossKind, rows: Option<Range<usize>>, settings| {
            let leaf = |seed| Tensor::<A, 2>::from_inner(draw(n, 4, seed)).require_grad();
            let (anchors, positives) = (leaf(1), leaf(2));
            let batch = EmbeddedBatch {
                anchors: anchors.clone(),
                positives: positives.clone(),
                n_old: 5,
            };
            let loss = match rows {
                Some(rows) => kind.of_rows(batch, rows, settings),
                None => kind.of_batch(batch, Anchors::All, settings),
            };
            let gradients = loss.backward();
            let slopes = [anchors, positives].map(|leaf| leaf.grad(&gradients).unwrap());
            let slopes = slopes.iter().flat_map(to_vec);
            to_vec(&loss)
                .into_iter()
                .chain(slopes)
                .collect::<Vec<f64>>()
        };
        for (kind, settings) in [
            (LossKind::InfoNce, plain),
            (LossKind::InfoNce, drawn),
            (LossKind::InfoNce, both),
            (LossKind::Published, plain),
            (LossKind::Published, drawn),
            (LossKind::Corrected, plain),
            (LossKind::Corrected, drawn),
        ] {
            let whole = part(kind, None, settings);
            for ends in [vec![0, 11], vec![0, 3, 8, 11], vec![0, 1, 5, 6, 11]] {
                let mut sum = vec![0.0; whole.len()];
                for rows in ends.windows(2) {
                    let found = part(kind, Some(rows[0]..rows[1]), settings);
                    sum.iter_mut()
                        .zip(found)
                        .for_each(|(sum, found)| *sum += found);
                }
                assert_close(&sum, &whole, 1e-5);
            }
        }
    }
}
