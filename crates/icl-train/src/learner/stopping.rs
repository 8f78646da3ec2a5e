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
/// The gain must be too small at two epochs in a row. R̄ is the metric's mean over an epoch: use a positive quantity
/// that training lowers, on validation samples, such as [`PairMetric::exact_risk`](crate::PairMetric::exact_risk).
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
    /// First epoch at which Burn called the strategy, above 1 in a resumed training.
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

#[cfg(test)]
mod tests {
    use super::*;
    use burn::train::metric::IterationSpeedMetric;

    /// Returns the epoch at which the rule ends, of 100 with these risks.
    fn end(min_gain: f64, risk: impl Fn(usize) -> f64) -> Option<usize> {
        let metric = IterationSpeedMetric::new();
        let mut strategy = GainEarlyStoppingStrategy::new(&metric, Split::Valid, min_gain);
        (1..=100).find(|&epoch| strategy.push(epoch, risk(epoch)))
    }

    /// Returns the same by means over epochs, written out.
    fn expected(min_gain: f64, risk: impl Fn(usize) -> f64) -> Option<usize> {
        let is_small = |epoch: usize| {
            let mean = |from: f64, to: f64| {
                let within = |&at: &usize| at as f64 > from && at as f64 <= to;
                let risks: Vec<f64> = (1..=epoch).filter(within).map(&risk).collect();
                risks.iter().sum::<f64>() / risks.len() as f64
            };
            let e = epoch as f64;
            let (before, after) = (mean(e / 4.0, e / 2.0), mean(e / 2.0, e));
            (before - after) / before < min_gain
        };
        (2..=100).find(|&epoch| epoch > 2 && is_small(epoch - 1) && is_small(epoch))
    }

    #[test]
    fn the_rule_ends_at_the_second_small_gain_in_a_row() {
        // A risk of 1/e halves at each doubling, and one that rises or stays has no gain at epochs 2 and 3.
        assert_eq!(end(0.3, |epoch| 1.0 / epoch as f64), None);
        assert_eq!(end(0.0, |_| 1.0), None);
        assert_eq!(end(1e-9, |_| 1.0), Some(3));
        assert_eq!(end(0.0, |epoch| epoch as f64), Some(3));
        for min_gain in [0.1, 0.05, 0.02] {
            let risk = |epoch: usize| 1.0 + 1.0 / epoch as f64;
            let found = end(min_gain, risk);
            assert!(found.is_some_and(|epoch| epoch > 3), "{min_gain}");
            assert_eq!(found, expected(min_gain, risk), "{min_gain}");
        }
        // NaN ends nothing.
        assert_eq!(end(0.1, |_| f64::NAN), None);
    }
}
