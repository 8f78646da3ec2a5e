//! The answer of a diagnosis, for the terminal and in JSON.

use icl_core::GrowthRatio;
use icl_core::drift::{AnchorDrift, AnchorTerms, Discrepancy, Drift};
use serde::Serialize;
use serde_json::{Map, Value};

use super::ranking::Ranking;
use super::words::{Columns, NAMES, sentence, table};
use crate::process::failure::Failure;

/// Numbers with which a diagnosis was made.
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
    pub seed: u64,
}

fn as_number<S: serde::Serializer>(alpha: &GrowthRatio, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(alpha.value())
}

/// Losses of anchors of one origin, and the drift that they see.
struct Anchors<'a> {
    drift: &'a AnchorDrift,
    columns: Columns,
    means: [f64; 7],
}

/// The same in JSON.
#[derive(Serialize)]
struct AnchorsInJson {
    mean: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_sample: Option<Map<String, Value>>,
    bias_inference: f64,
    null_q95: f64,
    null_mean: f64,
    n_relabellings: usize,
    p_value: f64,
    p_adjusted: f64,
    bias_range: [f64; 2],
    n_without_own_row: usize,
    n_with_several_own_rows: usize,
    n_self_pairs: usize,
}

/// General two-sample test in JSON.
#[derive(Serialize)]
struct TwoSampleTestInJson {
    test: &'static str,
    mmd2: f64,
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
            bandwidth: of.bandwidth,
            n_old: of.n_old,
            n_new: of.n_new,
            n_relabellings: of.n_relabellings,
            p_value: of.p_value,
            p_adjusted: of.p_adjusted,
        }
    }
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
    /// Joins what has been measured: the columns are those of old and of new anchors.
    pub fn new(
        made: Made,
        drift: &'a Drift,
        old: Columns,
        new: Option<Columns>,
        ranking: Ranking,
    ) -> Self {
        let of_new = drift.new.as_ref().zip(new);
        Self {
            made,
            drift,
            old: Anchors::of(&drift.old, old),
            new: of_new.map(|(drift, columns)| Anchors::of(drift, columns)),
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
                n_anchors: new.drift.terms.len(),
                update: new.drift.verdict().to_string(),
                why: new.drift.reason(),
                anchors: new.json(per_sample),
            }),
            two_sample_test: self.drift.discrepancy.as_ref().map(Into::into),
            sentence: sentence(&self.old.means),
            ranking: &self.ranking,
        };
        serde_json::to_string_pretty(&diagnosis).map_err(Failure::input)
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
                new.drift.terms.len(),
                table(&new.columns, &new.means, per_sample),
                new.beside_chance()
            ),
        };
        let two_samples = match &self.drift.discrepancy {
            None => String::new(),
            Some(of) => format!(
                "general two-sample test (maximum mean discrepancy, Gaussian kernel of width {:.4}) of {} of {n_old} \
                 old and {} of {n_new} new rows: MMD² = {:.4} (p = {:.3}, by Holm's correction {:.3})\n\n",
                of.bandwidth, of.n_old, of.n_new, of.mmd2, of.p_value, of.p_adjusted
            ),
        };
        format!(
            "{n_anchors} anchors, {n_old} old and {n_new} new noise samples, d = {d}; α = {:.4}, τ = {temperature}, K = \
             {negatives}\n\n{}\n{}\n\n{new_anchors}{two_samples}{}\n\n{}\n\nupdate: {}, since {}.",
            alpha.value(),
            table(&self.old.columns, &self.old.means, per_sample),
            self.old.beside_chance(),
            sentence(&self.old.means),
            self.ranking.text(),
            self.drift.verdict(),
            self.drift.reason()
        )
    }
}

impl<'a> Anchors<'a> {
    fn of(drift: &'a AnchorDrift, columns: Columns) -> Self {
        let n = drift.terms.len() as f64;
        let means = columns
            .each_ref()
            .map(|column| column.iter().sum::<f64>() / n);
        Self {
            drift,
            columns,
            means,
        }
    }

    fn n_self_pairs(&self) -> usize {
        let of = |it: &AnchorTerms| it.n_self_old + it.n_self_new;
        self.drift.terms.iter().map(of).sum()
    }

    fn json(&self, per_sample: bool) -> AnchorsInJson {
        let map = |value: &dyn Fn(usize) -> Value| {
            let entries = NAMES.iter().enumerate();
            entries
                .map(|(at, (name, _))| ((*name).to_owned(), value(at)))
                .collect()
        };
        let null = &self.drift.null;
        AnchorsInJson {
            mean: map(&|at| self.means[at].into()),
            per_sample: per_sample.then(|| map(&|at| self.columns[at].clone().into())),
            bias_inference: self.drift.bias_inference,
            null_q95: null.q95,
            null_mean: null.mean,
            n_relabellings: null.n_relabellings,
            p_value: null.p_value,
            p_adjusted: self.drift.p_adjusted,
            bias_range: self.drift.bias_range,
            n_without_own_row: self.drift.n_unpaired,
            n_with_several_own_rows: self.drift.n_repeated,
            n_self_pairs: self.n_self_pairs(),
        }
    }

    /// Writes the statistic next to its distribution without drift.
    fn beside_chance(&self) -> String {
        let drift = self.drift;
        let null = &drift.null;
        let [low, high] = drift.bias_range;
        let unpaired = match drift.n_unpaired {
            0 => String::new(),
            n => format!(
                ", {n} anchors without a row of their own: bias from {low:.4} to {high:.4} if their samples are in the \
                 noise"
            ),
        };
        format!(
            "bias of inference {:.4} nats; without drift |bias| ≤ {:.4} in 95 % of {} relabellings, {:.4} on average \
             (p = {:.3}, by Holm's correction {:.3}); {} self-pairs left out{unpaired}",
            drift.bias_inference,
            null.q95,
            null.n_relabellings,
            null.mean,
            null.p_value,
            drift.p_adjusted,
            self.n_self_pairs()
        )
    }
}
