//! The test of drift.

use std::borrow::Cow;
use std::convert::Infallible;

use rayon::prelude::*;

use super::candidates::Candidates;
use super::data::{AnchorGroup, DriftData};
use super::discrepancy::{Discrepancy, MOST};
use super::estimate::LeftOut;
use super::holm::holm;
use super::measurement::{AnchorDrift, Drift};
use super::no_drift::{NoDrift, p_value};
use super::relabelling::Relabellings;
use super::terms::{AnchorMeasured, AnchorTerms, Formula, N_GROUPS};
use super::verdict::nearest_to_zero;
use crate::error::check_loss;
use crate::{Error, GrowthRatio, Origin, Seed};

/// Fewest relabellings with which one of two tests can be significant: the smallest p-value, 1/(B + 1), is 2.5 % then.
const FEWEST: usize = 39;

/// Settings of [`DriftTest`].
#[derive(Debug, Clone, PartialEq)]
pub struct DriftTestConfig {
    temperature: f64,
    negatives: f64,
    alpha: Option<GrowthRatio>,
    effect: f64,
    relabellings: usize,
    samples: Option<usize>,
    seed: Seed,
}

impl DriftTestConfig {
    /// Returns settings with the temperature τ and the number of negatives K with which the encoder was trained, an
    /// effect of 0.05 nats, 200 relabellings of all rows and seed 0. The growth ratio α is that of the noise samples.
    pub fn new(temperature: f64, negatives: f64) -> Self {
        Self {
            temperature,
            negatives,
            alpha: None,
            effect: 0.05,
            relabellings: 200,
            samples: None,
            seed: Seed::new(0),
        }
    }

    /// Sets the growth ratio α; `None` is n_new / (n_old + n_new) of the noise samples.
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

    /// Sets the largest number of rows of each kind (anchors of each origin, old and new noise) that are compared;
    /// `None` compares all. If there are more, a random subset of each kind is drawn independently, so that the cost is
    /// bounded.
    pub fn with_samples(self, samples: Option<usize>) -> Self {
        Self { samples, ..self }
    }

    /// Sets the seed of the relabellings and of the random subset.
    pub fn with_seed(self, seed: Seed) -> Self {
        Self { seed, ..self }
    }

    /// Creates the test.
    ///
    /// # Errors
    /// - [`Error`] if the temperature or the number of negatives is not a finite number above 0;
    /// - [`Error`] if the effect is not a finite number from 0 up;
    /// - [`Error`] if there are fewer than 39 relabellings;
    /// - [`Error`] if fewer than 32 rows are to be compared, the number of groups from which standard errors are
    ///   computed.
    pub fn try_init(self) -> Result<DriftTest, Error> {
        check_loss(self.temperature, Some(self.negatives))?;
        if !(self.effect.is_finite() && self.effect >= 0.0) {
            return Err(Error::new(
                "effect",
                format!("{} nats", self.effect),
                "a number from 0 up",
            ));
        }
        if self.relabellings < FEWEST {
            return Err(Error::new("relabellings", self.relabellings, "at least 39"));
        }
        if let Some(samples) = self.samples.filter(|samples| *samples < N_GROUPS) {
            let expected = format!("at least {N_GROUPS}, or all");
            return Err(Error::new("evaluation-samples", samples, expected));
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
/// Without drift, old and new rows are samples of one distribution, and the labels old and new are arbitrary. The
/// test permutes them B times: n_old rows, drawn at random from *all*, are labelled old and the rest new, and s is
/// computed again (a permutation test, Fisher, 1935). Both parts keep their real sizes, on which the noise of s depends; a division of
/// the old rows alone could not have them.
///
/// An anchor whose sample is a row of the noise moves with it: the row that takes the place of the anchor's own row
/// takes the place of the anchor, too, with its own positive, or if it has none, with the similarity of the replaced
/// anchor to its positive. With fixed anchors and moving rows the test would exceed its level: the observed sum counts
/// each pair of such anchors twice, a relabelled sum does not. In simulations of isotropic embeddings without drift, 30
/// old and 300 new, fixed anchors raised a false alarm in 13 of 100 cases, moving ones in 5. Anchors without a row in
/// the noise stay fixed; for them the test is exact.
///
/// All relabellings share the similarities: the cost is that of (n_candidates × n_rows) products of rows and B sums
/// over the smaller part, where the candidates are the anchors, and if any is a row of the noise, all rows. No encoder
/// is needed. The memory is that of the rows, 8 bytes for each row and relabelling, and eight rows of similarities for
/// each thread. The result depends on the seed, not on the number of threads. Similarities more than 700 nats below an
/// anchor's closest noise count as e^−700 of it in relabellings; this occurs at temperatures below 0.003 alone.
///
/// An anchor without a row of its own may have its sample in the noise of its origin all the same, in other numbers: as
/// another view, or rounded. That row raises E f and with it |s|, drift or not (anchors that were views of the old
/// rows: an alarm in each of 100 data sets of 60 old and 60 new rows without drift). The sample can be any row, but
/// none raises E f by more than the one that is most similar to the anchor. So s lies between its value with all rows
/// and its value without those, and the [`Verdict`] is one that holds in all of this range.
///
/// There are two tests: of old and of new anchors, or, without new anchors, of old anchors and the [`Discrepancy`] of
/// the noise. By Holm's correction the chance of any false alarm is at most 5 %. Without new anchors nothing is known
/// of what new data cost the encoder: if the discrepancy is significant, the answer is not to keep it.
///
/// Of many rows a random subset can be compared ([`DriftTestConfig::with_samples`]). Self-pairs, own rows and samples
/// with several rows are those of all rows, and α is their growth ratio. The relabellings are of the rows that are
/// drawn, with as many old and new ones: the test keeps its level, but sees less than with all rows. An anchor whose
/// own row is not drawn is held fixed. Means are estimates of those of all rows, with standard errors
/// ([`Estimate`](super::Estimate)); s is corrected for the bias of the subset, and its p-value is that of the
/// uncorrected one, as the relabellings are.
///
/// Deviation from a plain test: a significant |s| is not enough, since large samples make any drift significant. The
/// [`Verdict`] also requires that |s| exceeds the effect ε.
///
/// [`Verdict`]: super::Verdict
#[derive(Debug, Clone, PartialEq)]
pub struct DriftTest {
    settings: DriftTestConfig,
}

impl DriftTest {
    /// Measures the drift of the data, with its distribution without drift.
    ///
    /// # Errors
    /// - [`Error`] if an anchor has no noise of one origin but itself;
    /// - [`Error`] if fewer than two drawn rows of a part of the noise differ from an anchor and its positive, or all
    ///   of them are in one group of the jackknife.
    ///
    /// # Panics
    /// If the noise has 2³² rows or more.
    pub fn measure(&self, data: &DriftData) -> Result<Drift, Error> {
        let it = &self.settings;
        let alpha = it
            .alpha
            .unwrap_or_else(|| GrowthRatio::from_counts(data.n_old(), data.n_new()));
        let formula = Formula {
            log_negatives: it.negatives.ln(),
            alpha: alpha.value(),
        };
        data.check_noise()?;
        let all_noise = (&data.noise, data.n_old);
        let data = match it.samples {
            Some(most) => Cow::Owned(data.subset(most, it.seed.child("samples"))),
            None => Cow::Borrowed(data),
        };
        let mut measured = Vec::with_capacity(data.groups.len());
        for group in &data.groups {
            let of_group: Result<Vec<AnchorMeasured>, Error> = (0..group.anchors.n())
                .into_par_iter()
                .map(|anchor| AnchorMeasured::of(&data, group, anchor, it.temperature))
                .collect();
            measured.push(of_group?);
        }
        let terms: Vec<Vec<AnchorTerms>> = measured
            .iter()
            .map(|of_group| of_group.iter().map(|it| it.terms).collect())
            .collect();
        let n_rows = data.n_old() + data.n_new();
        let seed = it.seed.child("drift");
        let relabellings = Relabellings::draw(it.relabellings, n_rows, data.n_old(), seed);
        let candidates = Candidates::of(&data, &terms, it.temperature, formula);
        let relabelled = candidates.statistics(&relabellings);
        let groups = data.groups.iter().zip(terms).zip(&measured);
        let mut drifts: Vec<AnchorDrift> = groups
            .zip(&relabelled)
            .map(|(((group, terms), measured), null)| {
                let left_out = LeftOut::new(group.left_out(), data.left_out, measured);
                anchor_drift(group, (terms, left_out), formula, null, it.effect)
            })
            .collect();
        let mut discrepancy = (drifts.len() == 1).then(|| {
            // Of all rows: it draws a random subset of its own.
            let seed = it.seed.child("discrepancy");
            Discrepancy::of(all_noise.0, all_noise.1, MOST, it.relabellings, seed)
        });
        let p_values = drifts.iter().map(|it| it.p_adjusted);
        let p_values: Vec<f64> = p_values
            .chain(discrepancy.iter().map(|it| it.p_adjusted))
            .collect();
        let of_drifts = drifts.iter_mut().map(|it| &mut it.p_adjusted);
        let all = of_drifts.chain(discrepancy.iter_mut().map(|it| &mut it.p_adjusted));
        all.zip(holm(&p_values))
            .for_each(|(p, adjusted)| *p = adjusted);
        let mut drifts = drifts.into_iter();
        Ok(Drift {
            old: drifts.next().expect("the data has old anchors"),
            new: drifts.next(),
            discrepancy,
        })
    }
}

/// Returns the drift that anchors of one origin see, as if theirs were the only test. `relabelled` holds the statistics
/// without drift.
fn anchor_drift(
    group: &AnchorGroup,
    (terms, left_out): (Vec<AnchorTerms>, LeftOut),
    formula: Formula,
    relabelled: &[f64],
    effect: f64,
) -> AnchorDrift {
    let bias = |it: &AnchorTerms| formula.bias(it.positive, it.log_noise_old, it.log_noise_new);
    let mean = |bias: &dyn Fn(&AnchorTerms) -> f64| {
        terms.iter().map(bias).sum::<f64>() / terms.len() as f64
    };
    let statistic = mean(&bias);
    let without_closest = mean(&|it| match (it.log_noise_without_closest, group.origin) {
        (None, _) => bias(it),
        (Some(old), Origin::Old) => formula.bias(it.positive, old, it.log_noise_new),
        (Some(new), Origin::New) => formula.bias(it.positive, it.log_noise_old, new),
    });
    let range = [
        statistic.min(without_closest),
        statistic.max(without_closest),
    ];
    let sizes: Vec<f64> = relabelled.iter().map(|it| it.abs()).collect();
    let mut drift = AnchorDrift {
        bias_inference: statistic,
        standard_error: 0.0,
        bias_range: range,
        n_anchors: group.counts.n_anchors,
        n_unpaired: group.counts.n_unpaired,
        n_repeated: group.counts.n_repeated,
        n_self_pairs: group.counts.n_self_pairs,
        null: NoDrift::of(statistic, relabelled),
        p_adjusted: p_value(nearest_to_zero(range), &sizes),
        effect,
        anchors: group.places.clone(),
        terms,
        left_out,
    };
    if drift.is_of_subset() {
        let biases = |terms: &[AnchorTerms]| Ok(vec![terms.iter().map(bias).collect()]);
        let Ok(estimates) = drift.estimates::<Infallible>(biases);
        let found = &estimates[0];
        drift.standard_error = found.standard_error;
        drift.bias_inference = found.mean;
        drift.bias_range = range.map(|end| end + (found.mean - statistic));
    }
    drift
}
