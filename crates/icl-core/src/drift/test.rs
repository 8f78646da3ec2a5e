//! The test of drift.

use rayon::prelude::*;

use super::candidates::Candidates;
use super::error::DriftError;
use super::measurement::{AnchorDrift, Drift};
use super::no_drift::NoDrift;
use super::panel::DriftPanel;
use super::relabelling::Relabellings;
use super::terms::{AnchorTerms, Formula};
use super::verdict::Verdict;
use crate::error::check_loss;
use crate::{GrowthRatio, Seed};

/// Fewest relabellings from which a 95 % quantile can be taken.
const FEWEST: usize = 19;

/// Settings of [`DriftTest`].
#[derive(Debug, Clone, PartialEq)]
pub struct DriftTestConfig {
    temperature: f64,
    negatives: f64,
    alpha: Option<GrowthRatio>,
    effect: f64,
    relabellings: usize,
    seed: Seed,
}

impl DriftTestConfig {
    /// Returns settings with the temperature τ and the number of negatives K with which the encoder was trained, an effect of
    /// 0.05 nats, 200 relabellings and seed 0. The growth ratio α is that of the noise samples.
    pub fn new(temperature: f64, negatives: f64) -> Self {
        Self {
            temperature,
            negatives,
            alpha: None,
            effect: 0.05,
            relabellings: 200,
            seed: Seed::new(0),
        }
    }

    /// Sets the growth ratio α, or none for n_new / (n_old + n_new) of the noise samples.
    pub fn with_alpha(self, alpha: Option<GrowthRatio>) -> Self {
        Self { alpha, ..self }
    }

    /// Sets the effect ε: the smallest drift that counts, in nats.
    pub fn with_effect(self, effect: f64) -> Self {
        Self { effect, ..self }
    }

    /// Sets the number of relabellings B.
    pub fn with_relabellings(self, relabellings: usize) -> Self {
        Self {
            relabellings,
            ..self
        }
    }

    /// Sets the seed of the relabellings.
    pub fn with_seed(self, seed: Seed) -> Self {
        Self { seed, ..self }
    }

    /// Creates the test.
    ///
    /// # Errors
    /// - [`DriftError::Loss`] if the temperature or the number of negatives is not a finite number above 0;
    /// - [`DriftError::Effect`] if the effect is not a finite number from 0 up;
    /// - [`DriftError::Relabellings`] if there are fewer than 19.
    pub fn try_init(self) -> Result<DriftTest, DriftError> {
        check_loss(self.temperature, Some(self.negatives))?;
        if !(self.effect.is_finite() && self.effect >= 0.0) {
            return Err(DriftError::Effect { found: self.effect });
        }
        if self.relabellings < FEWEST {
            return Err(DriftError::Relabellings {
                found: self.relabellings,
            });
        }
        Ok(DriftTest { settings: self })
    }
}

/// Permutation test of drift from old to new noise by the bias of inference, in nats.
///
/// ```text
/// s = 1/n · Σᵢ (L^{I,X}(xᵢ) − L^{I,X′}(xᵢ))         Table 2, inference on X
/// ```
///
/// The sign of s is the direction: negative if the new noise is closer to the anchors than the old. The test is of |s|.
///
/// Without drift, old and new rows are samples of one distribution, and which of them are called old is arbitrary. Each of B
/// relabellings draws n_old of *all* rows at random and calls them old, the others new, and computes s again (a permutation
/// test, Fisher, 1935). Both parts keep their real sizes, on which the noise of s depends; a division of the old
/// rows alone could not have them.
///
/// An anchor whose sample is a row of the noise moves with it: the row that takes the place of the anchor's own row
/// takes the place of the anchor, too, with its own positive, or if it has none, with the similarity of the replaced anchor to
/// its positive. If the anchors were held fixed while their rows move, the level would not be kept: each pair of such anchors is
/// in the sum twice, which the relabelled noise is not. In simulations of isotropic embeddings without drift, 30 old and 300 new,
/// held anchors raised a false alarm in 13 of 100 cases, moving ones in 5. Anchors that are no rows of the noise are held fixed,
/// for which the test is exact.
///
/// All relabellings share the similarities: the cost is that of (n_candidates × n_rows) products of rows and B sums over the
/// smaller part, where the candidates are the anchors, and if any is a row of the noise, all rows. No encoder is needed. The
/// memory is that of the rows, 8 bytes for each row and relabelling, and eight rows of similarities for each thread. The result depends on
/// the seed, not on the number of threads. Similarities more than 700 nats below an anchor's closest noise count as e^−700 of
/// it in relabellings; this occurs at temperatures below 0.003 alone.
///
/// Deviation from a plain test: that |s| is significant is not enough, since large samples make any drift significant; the
/// [`Verdict`] also asks for an effect.
#[derive(Debug, Clone, PartialEq)]
pub struct DriftTest {
    settings: DriftTestConfig,
}

impl DriftTest {
    /// Measures the drift of a panel, with its distribution without drift.
    ///
    /// # Errors
    /// [`DriftError::OnlySelf`] if an anchor has no noise of one origin but itself.
    ///
    /// # Panics
    /// If the noise has 2³² rows or more.
    pub fn measure(&self, panel: &DriftPanel) -> Result<Drift, DriftError> {
        let it = &self.settings;
        let alpha = it
            .alpha
            .unwrap_or_else(|| GrowthRatio::from_counts(panel.n_old(), panel.n_new()));
        let formula = Formula {
            log_negatives: it.negatives.ln(),
            alpha: alpha.value(),
        };
        let mut terms = Vec::with_capacity(panel.groups.len());
        for group in &panel.groups {
            let of_group: Result<Vec<AnchorTerms>, DriftError> = (0..group.anchors.n())
                .into_par_iter()
                .map(|anchor| AnchorTerms::of(panel, group, anchor, it.temperature))
                .collect();
            terms.push(of_group?);
        }
        let n_rows = panel.n_old() + panel.n_new();
        let seed = it.seed.child("drift");
        let relabellings = Relabellings::draw(it.relabellings, n_rows, panel.n_old(), seed);
        let candidates = Candidates::of(panel, &terms, it.temperature, formula);
        let relabelled = candidates.statistics(&relabellings);
        let mut drifts = terms
            .into_iter()
            .zip(relabelled)
            .map(|(terms, relabelled)| {
                let biases = terms
                    .iter()
                    .map(|it| formula.bias(it.positive, it.log_noise_old, it.log_noise_new));
                let bias_inference = biases.sum::<f64>() / terms.len() as f64;
                let null = NoDrift::of(bias_inference, &relabelled);
                AnchorDrift {
                    bias_inference,
                    null,
                    effect: it.effect,
                    verdict: Verdict::of(bias_inference, &null, it.effect),
                    terms,
                }
            });
        let old = drifts.next().expect("a panel has old anchors");
        Ok(Drift {
            old,
            new: drifts.next(),
        })
    }
}
