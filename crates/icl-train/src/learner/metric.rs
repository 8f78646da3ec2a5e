//! Exact risk, change ratio, biases and AUC as metrics of Burn's training loop.

use std::marker::PhantomData;
use std::sync::Arc;

use burn::tensor::backend::Backend;
use burn::train::metric::state::{FormatOptions, NumericMetricState};
use burn::train::metric::{
    Metric, MetricAttributes, MetricMetadata, MetricName, Numeric, NumericAttributes, NumericEntry,
    SerializedEntry,
};
use icl_core::{ExactRisk, Origin, RiskRows, Strategy, exact_nce_i_rows, exact_risk};

use super::output::PairInput;

/// Quantity of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    Risk(Option<Origin>),
    ChangeRatio,
    Bias(Strategy, Origin),
    Auc(Option<Origin>),
}

/// Numeric metric of embedded pairs: the exact risk, the change ratio, the bias of a strategy, or the AUC of positives
/// against noise.
///
/// - **A batch** has the quantity of [`exact_risk`] over its own pairs, each anchor against all others of the batch:
///   exact for the batch. The growth ratio is that of the batch.
/// - **An epoch** has the mean over its batches, weighted by the anchors that the quantity is a mean over.
///
/// A validation loader whose only batch holds all held-out samples therefore gives the exact held-out risk; its memory
/// stays bounded, since similarities are computed in chunks. Risk and AUC of all samples, or of the only origin in a
/// batch, are those of one population. A batch in which a quantity is not defined, such as the change ratio without two
/// old and two new samples, counts for nothing and is shown as "–".
///
/// τ is the temperature and K the number of negatives of [`exact_risk`], both above 0, which is not checked. Both must
/// be those of the loss if the two are to be compared.
///
/// ```
/// use burn::backend::Flex;
/// use burn::train::metric::{Metric, Numeric};
/// use icl_core::{Origin, Strategy};
/// use icl_train::PairMetric;
///
/// let risk = PairMetric::<Flex>::exact_risk(None, 0.1, 31.0);
/// assert_eq!(*risk.name(), "Exact risk");
/// let bias = PairMetric::<Flex>::bias(Strategy::FineTuning, Origin::New, 0.1, 31.0);
/// assert_eq!(*bias.name(), "Bias of fine-tuning on new data");
/// ```
#[derive(Debug, Clone)]
pub struct PairMetric<B> {
    quantity: Quantity,
    temperature: f64,
    negatives: f64,
    name: MetricName,
    state: State,
    backend: PhantomData<B>,
}

/// State of Burn, which can be printed.
#[derive(Clone, Default)]
struct State(NumericMetricState);

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.running_value().serialize())
    }
}

impl<B: Backend> PairMetric<B> {
    fn new(quantity: Quantity, temperature: f64, negatives: f64) -> Self {
        Self {
            quantity,
            temperature,
            negatives,
            name: Arc::new(quantity.name()),
            state: State::default(),
            backend: PhantomData,
        }
    }

    /// Creates the exact risk: the mean of L^{I,X′} in nats over anchors of an origin, or over all.
    pub fn exact_risk(of: Option<Origin>, temperature: f64, negatives: f64) -> Self {
        Self::new(Quantity::Risk(of), temperature, negatives)
    }

    /// Creates the change ratio r (Eq. 6): its mean over old anchors.
    pub fn change_ratio(temperature: f64, negatives: f64) -> Self {
        Self::new(Quantity::ChangeRatio, temperature, negatives)
    }

    /// Creates the bias of a strategy in nats (Table 2): its mean over anchors of an origin. See
    /// [`NoiseLosses::bias`](icl_core::NoiseLosses::bias).
    pub fn bias(strategy: Strategy, on: Origin, temperature: f64, negatives: f64) -> Self {
        Self::new(Quantity::Bias(strategy, on), temperature, negatives)
    }

    /// Creates the AUC: the mean, over anchors of an origin or over all, of the share of the noise that is less similar
    /// to the anchor than its positive. It depends neither on τ nor on K.
    pub fn auc(of: Option<Origin>) -> Self {
        Self::new(Quantity::Auc(of), 1.0, 1.0)
    }

    /// Computes the quantity over a batch, and the number of anchors that it is a mean over; `None` if it is not
    /// defined.
    fn measure(&self, pairs: &PairInput<B>) -> Option<(f64, usize)> {
        let n_old = pairs.n_old;
        let n_new = pairs.anchors.dims()[0] - n_old;
        let (anchors, positives) = (pairs.anchors.clone(), pairs.positives.clone());
        let (temperature, negatives) = (self.temperature, self.negatives);
        if n_old >= 2 && n_new >= 2 {
            let risk = exact_risk(anchors, positives, n_old, temperature, negatives);
            return self.quantity.of_mixed(&risk, [n_old, n_new]);
        }
        // One population: all samples, even if a single one is of the other origin and has no noise of its own.
        let is_one = |of: Option<Origin>| match of {
            None => true,
            Some(Origin::Old) => n_new == 0,
            Some(Origin::New) => n_old == 0,
        };
        let of_rows: fn(&RiskRows) -> f64 = match self.quantity {
            Quantity::Risk(of) if is_one(of) => {
                |rows| rows.losses.iter().sum::<f64>() / rows.losses.len() as f64
            }
            Quantity::Auc(of) if is_one(of) => |rows| rows.ranks.auc(),
            _ => return None,
        };
        let n = n_old + n_new;
        let rows = || exact_nce_i_rows(anchors, positives, temperature, negatives);
        (n >= 2).then(|| (of_rows(&rows()), n))
    }
}

impl Quantity {
    /// Returns the quantity of a batch of old and new samples, and the number of anchors that it is a mean over.
    fn of_mixed(self, risk: &ExactRisk, [n_old, n_new]: [usize; 2]) -> Option<(f64, usize)> {
        let of = match self {
            Self::Risk(of) | Self::Auc(of) => of,
            Self::ChangeRatio => Some(Origin::Old),
            Self::Bias(_, on) => Some(on),
        };
        let value = match (self, of) {
            (Self::Risk(_), None) => risk.all,
            (Self::Risk(_), Some(Origin::Old)) => risk.old,
            (Self::Risk(_), Some(Origin::New)) => risk.new,
            (Self::ChangeRatio, _) => risk.change_ratio_old,
            (Self::Bias(strategy, on), _) => bias(risk, strategy, on),
            (Self::Auc(_), None) => risk.auc_all?,
            (Self::Auc(_), Some(Origin::Old)) => risk.auc_old?,
            (Self::Auc(_), Some(Origin::New)) => risk.auc_new?,
        };
        let n = match of {
            None => n_old + n_new,
            Some(Origin::Old) => n_old,
            Some(Origin::New) => n_new,
        };
        Some((value, n))
    }

    /// Returns the name, which Burn's loggers also use for their files.
    fn name(self) -> String {
        let data = |of: Origin| match of {
            Origin::Old => "old data",
            Origin::New => "new data",
        };
        let of = |name: &str, of: Option<Origin>| match of {
            None => name.to_owned(),
            Some(of) => format!("{name} of {}", data(of)),
        };
        match self {
            Self::Risk(origin) => of("Exact risk", origin),
            Self::ChangeRatio => "Change ratio".to_owned(),
            Self::Auc(origin) => of("AUC", origin),
            Self::Bias(strategy, on) => {
                let strategy = match strategy {
                    Strategy::Inference => "inference",
                    Strategy::FineTuning => "fine-tuning",
                    Strategy::Retraining => "retraining",
                    Strategy::Icl => "ICL",
                };
                format!("Bias of {strategy} on {}", data(on))
            }
        }
    }

    fn unit(self) -> Option<String> {
        matches!(self, Self::Risk(_) | Self::Bias(..)).then(|| "nats".to_owned())
    }
}

/// Returns the bias of a strategy on anchors of an origin (Table 2), from the means of an exact risk.
fn bias(risk: &ExactRisk, strategy: Strategy, on: Origin) -> f64 {
    match (strategy, on) {
        (Strategy::Inference | Strategy::FineTuning, Origin::Old) => risk.bias_inference_old,
        (Strategy::Inference, Origin::New) => risk.bias_inference_new,
        (Strategy::FineTuning, Origin::New) => risk.bias_fine_tuning_new,
        // Theorem 1: 0 to rounding.
        (Strategy::Icl, Origin::Old) => risk.nce1_old + risk.nce2_old - risk.old,
        (Strategy::Retraining, _) | (Strategy::Icl, Origin::New) => 0.0,
    }
}

impl<B: Backend> Metric for PairMetric<B> {
    type Input = PairInput<B>;

    fn name(&self) -> MetricName {
        self.name.clone()
    }

    fn attributes(&self) -> MetricAttributes {
        NumericAttributes {
            unit: self.quantity.unit(),
            higher_is_better: matches!(self.quantity, Quantity::Auc(_)),
        }
        .into()
    }

    /// # Panics
    /// If the shapes of anchors and positives differ, or there are more old samples than rows.
    fn update(&mut self, pairs: &PairInput<B>, _: &MetricMetadata) -> SerializedEntry {
        let mut format = FormatOptions::new(self.name()).precision(4);
        if let Some(unit) = self.quantity.unit() {
            format = format.unit(&unit);
        }
        match self.measure(pairs) {
            Some((value, n)) => self.state.0.update(value, n, format),
            // No anchors: Burn's mean over an epoch leaves the batch out, which it would not with NaN.
            None => SerializedEntry {
                formatted: "–".to_owned(),
                ..self.state.0.update(0.0, 0, format)
            },
        }
    }

    fn clear(&mut self) {
        self.state.0.reset();
    }
}

impl<B: Backend> Numeric for PairMetric<B> {
    fn value(&self) -> NumericEntry {
        self.state.0.current_value()
    }

    fn running_value(&self) -> NumericEntry {
        self.state.0.running_value()
    }
}
