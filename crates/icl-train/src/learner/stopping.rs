//! Early stopping of Burn's training loop by the gain of a doubling of the compute.

use burn::train::EarlyStoppingStrategy;
use burn::train::metric::store::{Aggregate, EventStoreClient, Split};
use burn::train::metric::{Metric, MetricName};

use crate::evaluation::stopping::GainRule;

/// Stops Burn's training loop when doubling the compute improves a risk by less than `min_gain`, a share of the risk:
/// [`GainRule`] on a metric, with the number of epochs as compute.
///
/// ```text
/// gain = (R̄ of epochs in (e/4, e/2]  −  R̄ of those in (e/2, e]) / the former
/// ```
///
/// The gain must be too small at two epochs in a row. R̄ is the metric's mean over an epoch: take a positive quantity
/// of which less is better, on validation samples, such as [`PairMetric::exact_risk`](crate::PairMetric::exact_risk).
///
/// Epoch e is read at the end of epoch e + 1, so that training ends an epoch later than the rule says: Burn 0.21 asks
/// before its metrics' thread has seen the last validation batch, and would answer with a part of the epoch. A resumed
/// training reads the earlier epochs from the log files. Two are missing: Burn 0.21 logs the epoch after the checkpoint
/// in place of epoch 1.
#[derive(Debug, Clone)]
pub struct GainEarlyStoppingStrategy {
    metric: MetricName,
    split: Split,
    warmup_epochs: usize,
    rule: GainRule,
    /// Epoch of the first question, which is above 1 in a resumed training.
    first_epoch: Option<usize>,
    /// Last epoch whose metric has been read.
    n_read: usize,
}

impl GainEarlyStoppingStrategy {
    /// Creates the strategy for a numeric metric, which must be registered for this split.
    ///
    /// # Panics
    /// If `min_gain` is below 0 or not finite.
    pub fn new<M: Metric>(metric: &M, split: Split, min_gain: f64) -> Self {
        Self {
            metric: metric.name(),
            split,
            warmup_epochs: 0,
            rule: GainRule::doubling(min_gain),
            first_epoch: None,
            n_read: 0,
        }
    }

    /// Leaves out the first epochs, in which the risk follows the warm-up of the rate and of the optimizer. Default: 0.
    #[must_use]
    pub fn with_warmup_epochs(self, warmup_epochs: usize) -> Self {
        Self {
            warmup_epochs,
            ..self
        }
    }

    /// Adds the risk of an epoch, and returns whether training should stop.
    fn push(&mut self, epoch: usize, risk: f64) -> bool {
        epoch > self.warmup_epochs && self.rule.push(epoch as f64, risk).is_some()
    }
}

impl EarlyStoppingStrategy for GainEarlyStoppingStrategy {
    fn should_stop(&mut self, epoch: usize, store: &EventStoreClient) -> bool {
        let first = *self.first_epoch.get_or_insert(epoch);
        let mut stops = false;
        while self.n_read + 1 < epoch && !stops {
            self.n_read += 1;
            let at = self.n_read;
            // Burn 0.21 counts the epochs of its logs from 1 until the first epoch of a resumed training ends.
            if first > 1 && (at == 1 || at == first) {
                continue;
            }
            // A logger in memory lacks the epochs before a checkpoint.
            let risk = store.find_metric(&self.metric, at, Aggregate::Mean, &self.split);
            stops = risk.is_some_and(|risk| self.push(at, risk));
        }
        stops
    }
}
