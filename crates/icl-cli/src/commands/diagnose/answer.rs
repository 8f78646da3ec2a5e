//! The answer of a diagnosis, for the terminal and in JSON.

use icl_core::GrowthRatio;
use icl_core::drift::{Discrepancy, Drift, Estimate};
use serde::Serialize;

use super::anchors::{Anchors, AnchorsInJson};
use super::ranking::Ranking;
use super::words::{error_in_words, sentence};
use crate::process::failure::Failure;

/// Sizes and settings of a diagnosis.
#[derive(Serialize)]
pub struct Made {
    pub n_anchors: usize,
    pub n_old: usize,
    pub n_new: usize,
    pub d: usize,
    #[serde(serialize_with = "as_number")]
    pub alpha: GrowthRatio,
    pub temperature: f64,
    pub negatives: f64,
    pub effect: f64,
    /// Largest number of rows of each file that are compared; `None` for all.
    pub evaluation_samples: Option<usize>,
    pub seed: u64,
}

fn as_number<S: serde::Serializer>(alpha: &GrowthRatio, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(alpha.value())
}

/// General two-sample test in JSON.
#[derive(Serialize)]
struct TwoSampleTestInJson {
    test: &'static str,
    mmd2: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mmd2_standard_error: Option<f64>,
    bandwidth: f64,
    n_old: usize,
    n_new: usize,
    n_relabellings: usize,
    p_value: f64,
    p_adjusted: f64,
}

impl From<&Discrepancy> for TwoSampleTestInJson {
    fn from(of: &Discrepancy) -> Self {
        Self {
            test: "maximum mean discrepancy",
            mmd2: of.mmd2,
            mmd2_standard_error: mmd2_error(of),
            bandwidth: of.bandwidth,
            n_old: of.n_old,
            n_new: of.n_new,
            n_relabellings: of.n_relabellings,
            p_value: of.p_value,
            p_adjusted: of.p_adjusted,
        }
    }
}

/// Returns the standard error of MMD², `None` if all rows are compared.
fn mmd2_error(of: &Discrepancy) -> Option<f64> {
    Some(of.standard_error).filter(|it| *it > 0.0)
}

/// New anchors in JSON.
#[derive(Serialize)]
struct NewAnchorsInJson {
    n_anchors: usize,
    update: String,
    why: String,
    #[serde(flatten)]
    anchors: AnchorsInJson,
}

/// A diagnosis in JSON.
#[derive(Serialize)]
struct DiagnosisInJson<'a> {
    update: String,
    why: String,
    #[serde(flatten)]
    made: &'a Made,
    #[serde(flatten)]
    anchors: AnchorsInJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_anchors: Option<NewAnchorsInJson>,
    two_sample_test: Option<TwoSampleTestInJson>,
    sentence: String,
    #[serde(flatten)]
    ranking: &'a Ranking,
}

/// Measured drift with the losses behind it.
pub struct Answer<'a> {
    made: Made,
    drift: &'a Drift,
    old: Anchors<'a>,
    new: Option<Anchors<'a>>,
    ranking: Ranking,
}

impl<'a> Answer<'a> {
    /// Joins what has been measured: the estimates are those of old and of new anchors, in the order of [`NAMES`].
    pub fn new(
        made: Made,
        drift: &'a Drift,
        old: Vec<Estimate>,
        new: Option<Vec<Estimate>>,
        ranking: Ranking,
    ) -> Self {
        let of_new = drift.new.as_ref().zip(new);
        Self {
            made,
            drift,
            old: Anchors {
                drift: &drift.old,
                estimates: old,
            },
            new: of_new.map(|(drift, estimates)| Anchors { drift, estimates }),
            ranking,
        }
    }

    /// Writes the answer as JSON.
    ///
    /// # Errors
    /// Never for finite numbers.
    pub fn json(&self, per_sample: bool) -> Result<String, Failure> {
        let diagnosis = DiagnosisInJson {
            update: self.drift.verdict().to_string(),
            why: self.drift.reason(),
            made: &self.made,
            anchors: self.old.json(per_sample),
            new_anchors: self.new.as_ref().map(|new| NewAnchorsInJson {
                n_anchors: new.drift.n_anchors,
                update: new.drift.verdict().to_string(),
                why: new.drift.reason(),
                anchors: new.json(per_sample),
            }),
            two_sample_test: self.drift.discrepancy.as_ref().map(Into::into),
            sentence: sentence(&self.old.estimates),
            ranking: &self.ranking,
        };
        serde_json::to_string_pretty(&diagnosis).map_err(Failure::input)
    }

    /// Writes which rows are compared, where these are not all.
    fn compared(&self) -> String {
        let is_of_subset = |of: &Anchors<'_>| of.drift.is_of_subset();
        let Some(samples) = self.made.evaluation_samples else {
            return String::new();
        };
        if !is_of_subset(&self.old) && !self.new.as_ref().is_some_and(is_of_subset) {
            return String::new();
        }
        let new_anchors = match &self.new {
            Some(new) => format!(", {} new anchors", new.drift.terms.len()),
            None => String::new(),
        };
        format!(
            "compared: {} random anchors, {} old and {} new noise samples{new_anchors} (--evaluation-samples {samples}); \
             ± is the standard error by this draw\n",
            self.old.drift.terms.len(),
            self.made.n_old.min(samples),
            self.made.n_new.min(samples)
        )
    }

    /// Writes the answer for the terminal. The last line is the verdict.
    pub fn text(&self, per_sample: bool) -> String {
        let Made {
            n_anchors,
            n_old,
            n_new,
            d,
            alpha,
            temperature,
            negatives,
            ..
        } = &self.made;
        let new_anchors = match &self.new {
            None => String::new(),
            Some(new) => format!(
                "{} new anchors:\n{}\n{}\n\n",
                new.drift.n_anchors,
                new.table(per_sample),
                new.beside_chance()
            ),
        };
        let two_samples = match &self.drift.discrepancy {
            None => String::new(),
            Some(of) => format!(
                "general two-sample test (maximum mean discrepancy, Gaussian kernel of width {:.4}) of {} of {n_old} \
                 old and {} of {n_new} new rows: MMD² = {:.4}{} (p = {:.3}, by Holm's correction {:.3})\n\n",
                of.bandwidth,
                of.n_old,
                of.n_new,
                of.mmd2,
                error_in_words(mmd2_error(of), 4),
                of.p_value,
                of.p_adjusted
            ),
        };
        format!(
            "{n_anchors} anchors, {n_old} old and {n_new} new noise samples, d = {d}; α = {:.4}, τ = {temperature}, K = \
             {negatives}\n{}\n{}\n{}\n\n{new_anchors}{two_samples}{}\n\n{}\n\nupdate: {}, since {}.",
            alpha.value(),
            self.compared(),
            self.old.table(per_sample),
            self.old.beside_chance(),
            sentence(&self.old.estimates),
            self.ranking.text(),
            self.drift.verdict(),
            self.drift.reason()
        )
    }
}
