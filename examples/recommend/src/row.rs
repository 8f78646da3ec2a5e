//! The lines of the table.

use std::fmt;

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl::core::ExactRisk;
use icl::train::Outcome;

use crate::last_items::Quality;

/// Line of an encoder, or of the ranking by popularity.
#[derive(Debug)]
pub struct Row {
    name: String,
    /// Charged passes, and K in the last epoch.
    training: Option<(f64, f64)>,
    /// Exact risk of the encoder from which the training started.
    before: Option<f64>,
    risk: Option<ExactRisk>,
    qualities: [Quality; 2],
}

impl Row {
    /// Creates the line of a ranking.
    pub fn new(name: &str, risk: Option<ExactRisk>, qualities: [Quality; 2]) -> Self {
        Self {
            name: name.to_owned(),
            training: None,
            before: None,
            risk,
            qualities,
        }
    }

    /// Adds the cost of the training that the encoder comes from.
    pub fn after<M, B, R>(self, outcome: &Outcome<M, B, R>) -> Self
    where
        B: AutodiffBackend,
        M: AutodiffModule<B>,
    {
        let record = &outcome.record;
        let k = record.step_negatives.last().copied().unwrap_or(f64::NAN);
        Self {
            training: Some((record.cost.charged(), k)),
            ..self
        }
    }

    /// Adds the exact risk of the encoder from which the training started.
    pub fn from(self, before: f64) -> Self {
        Self {
            before: Some(before),
            ..self
        }
    }

    /// Returns the head of the table.
    pub fn head() -> String {
        let head = format!(
            "{:<12} {:>9} {:>6} {:>8} {:>8} {:>8} {:>8}",
            "encoder", "passes", "K", "before", "after", "old", "new"
        );
        let quality = format!(" {:>7} {:>7}", "HR@10", "nDCG@10");
        format!("{head}{quality}{quality}")
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cell = |value: Option<f64>, digits: usize| match value.filter(|it| !it.is_nan()) {
            Some(value) => format!("{value:.digits$}"),
            None => "–".to_owned(),
        };
        let passes = cell(self.training.map(|it| it.0), 0);
        let k = cell(self.training.map(|it| it.1), 1);
        write!(f, "{:<12} {passes:>9} {k:>6}", self.name)?;
        let risk = |of: fn(&ExactRisk) -> f64| self.risk.as_ref().map(of);
        let risks = [risk(|it| it.all), risk(|it| it.old), risk(|it| it.new)];
        for risk in [self.before].into_iter().chain(risks) {
            write!(f, " {:>8}", cell(risk, 4))?;
        }
        for Quality { hit_rate, ndcg } in self.qualities {
            let [hit_rate, ndcg] = [hit_rate, ndcg].map(|it| cell(Some(it), 3));
            write!(f, " {hit_rate:>7} {ndcg:>7}")?;
        }
        Ok(())
    }
}
