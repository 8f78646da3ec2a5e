//! Losses, biases and drift of the anchors of one origin, with the drift that chance alone would show.

use comfy_table::Table;
use icl_core::drift::{AnchorDrift, Estimate};
use serde::Serialize;
use serde_json::{Map, Value};

use super::words::{NAMES, error_in_words, table};

/// Losses of the anchors of one origin (old or new), and the drift of the noise for these anchors.
pub struct Anchors<'a> {
    pub drift: &'a AnchorDrift,
    /// In the order of [`NAMES`].
    pub estimates: Vec<Estimate>,
}

/// Losses and drift of anchors in JSON. Standard errors and the number of anchors are there where a random subset is
/// compared.
#[derive(Serialize)]
pub struct AnchorsInJson {
    mean: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    standard_error: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_sample: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n_compared: Option<usize>,
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

impl Anchors<'_> {
    /// Returns the table of the losses and biases.
    pub fn table(&self, per_sample: bool) -> Table {
        let drift = self.drift;
        let anchors = per_sample.then_some(&drift.anchors[..]);
        table(&self.estimates, anchors, drift.is_of_subset())
    }

    /// Returns the fields of the JSON object.
    pub fn json(&self, per_sample: bool) -> AnchorsInJson {
        let map = |value: &dyn Fn(&Estimate) -> Value| -> Map<String, Value> {
            let entries = NAMES.iter().zip(&self.estimates);
            entries
                .map(|((name, _), of)| ((*name).to_owned(), value(of)))
                .collect()
        };
        let drift = self.drift;
        let is_of_subset = drift.is_of_subset();
        let per_sample = per_sample.then(|| {
            let mut lists = map(&|of| of.of_anchors.clone().into());
            if is_of_subset {
                lists.insert("anchor".to_owned(), drift.anchors.clone().into());
            }
            lists
        });
        let null = &drift.null;
        AnchorsInJson {
            mean: map(&|of| of.mean.into()),
            standard_error: is_of_subset.then(|| map(&|of| of.standard_error.into())),
            per_sample,
            n_compared: is_of_subset.then_some(drift.terms.len()),
            bias_inference: drift.bias_inference,
            null_q95: null.q95,
            null_mean: null.mean,
            n_relabellings: null.n_relabellings,
            p_value: null.p_value,
            p_adjusted: drift.p_adjusted,
            bias_range: drift.bias_range,
            n_without_own_row: drift.n_unpaired,
            n_with_several_own_rows: drift.n_repeated,
            n_self_pairs: drift.n_self_pairs,
        }
    }

    /// Writes the statistic next to its distribution without drift.
    pub fn beside_chance(&self) -> String {
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
        let error = drift.is_of_subset().then_some(drift.standard_error);
        format!(
            "bias of inference {:.4}{} nats; without drift |bias| ≤ {:.4} in 95 % of {} relabellings, {:.4} on average \
             (p = {:.3}, by Holm's correction {:.3}); {} self-pairs left out{unpaired}",
            drift.bias_inference,
            error_in_words(error, 4),
            null.q95,
            null.n_relabellings,
            null.mean,
            null.p_value,
            drift.p_adjusted,
            drift.n_self_pairs
        )
    }
}
