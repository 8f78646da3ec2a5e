//! Counters of a run, within an epoch and between evaluations.

use icl_core::Stepped;
use serde::{Deserialize, Serialize};

use crate::evaluation::stopping::{Descent, GainRule};
use crate::negatives::Advice;
use crate::progress::record::TrainingRecord;

/// State of a run at its last evaluation.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct LastEvaluation {
    /// Exact risk over all data, in nats.
    pub(crate) risk: f64,
    /// Number of epochs before the evaluation.
    pub(crate) epoch: usize,
    /// Number of steps of the run before the evaluation.
    pub(crate) n_steps: u64,
    /// Charged cost after the evaluation, in full passes.
    pub(crate) charged: f64,
    /// Cost of the evaluation, in full passes.
    pub(crate) cost: f64,
    /// Part of it that re-estimated the statistics of normalisation.
    pub(crate) statistics: f64,
}

/// Sums, counts and stopping state of a run, besides its encoder.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Counters {
    /// Number of steps done in this epoch.
    pub(crate) n_steps: usize,
    loss_sum: f64,
    query_rate_sum: f64,
    /// Sum of the numbers of negatives K of this epoch's steps.
    negatives_sum: f64,
    support_rate_sum: f64,
    n_support: usize,
    support_move_sum: f64,
    /// Number of inner loops in this epoch.
    n_loops: usize,
    /// Advice of the evaluations on the number of negatives.
    pub(crate) negatives: Advice,
    /// Last evaluation, if there is one.
    pub(crate) last: Option<LastEvaluation>,
    /// Minimum of the exact risk over all data.
    pub(crate) risks: Descent,
    /// Minimum of the mean of the risk over old and over new data.
    pub(crate) balanced: Descent,
    /// Minimum of an epoch's training loss.
    pub(crate) losses: Descent,
    /// Number of epochs whose losses were compared.
    pub(crate) n_losses: usize,
    /// State of the stopping rule if it decides by an expected gain.
    pub(crate) by_gain: Option<GainRule>,
    /// Share of the old data in this epoch.
    fraction: f64,
    /// Charged cost of the most costly step, in full passes.
    pub(crate) largest_step: f64,
    /// Whether the run is complete.
    pub(crate) is_complete: bool,
}

impl Counters {
    /// Creates the counters of a run whose first epoch holds the share `fraction` of the old data.
    pub(crate) fn new(fraction: f64, by_gain: Option<GainRule>) -> Self {
        Self {
            by_gain,
            fraction,
            ..Self::default()
        }
    }

    /// Returns the share of the old data in this epoch.
    pub(crate) fn fraction(&self) -> f64 {
        self.fraction
    }

    /// Sets the share of the old data of the next epoch.
    pub(crate) fn widen(&mut self, fraction: f64) {
        if fraction != self.fraction {
            self.fraction = fraction;
            // Another share of old data is another training loss, which cannot be compared with the lowest so far.
            self.losses = Descent::default();
        }
    }

    /// Adds a step with this number of negatives.
    pub(crate) fn add_step(&mut self, stepped: &Stepped, negatives: f64) {
        self.negatives_sum += negatives;
        self.n_steps += 1;
        self.loss_sum += stepped.loss;
        self.query_rate_sum += stepped.rate;
        for rate in &stepped.inner_rates {
            self.n_support += 1;
            self.support_rate_sum += rate;
        }
        if let Some(relative_move) = stepped.inner_move {
            self.n_loops += 1;
            self.support_move_sum += relative_move;
        }
    }

    /// Adds the epoch to the record and resets the counters for the next epoch.
    pub(crate) fn end_epoch<R>(&mut self, record: &mut TrainingRecord<R>) {
        let n = self.n_steps as f64;
        record.epoch_losses.push(self.loss_sum / n);
        record.epoch_ends_s.push(record.seconds.training());
        record.learning_rates.push(self.query_rate_sum / n);
        record.step_negatives.push(self.negatives_sum / n);
        record.old_fractions.push(self.fraction());
        if self.n_support > 0 {
            let rate = self.support_rate_sum / self.n_support as f64;
            record.support_learning_rates.push(rate);
        }
        if self.n_loops > 0 {
            let mean = self.support_move_sum / self.n_loops as f64;
            record.support_moves.push(mean);
        }
        self.n_steps = 0;
        self.loss_sum = 0.0;
        self.query_rate_sum = 0.0;
        self.negatives_sum = 0.0;
        self.support_rate_sum = 0.0;
        self.n_support = 0;
        self.support_move_sum = 0.0;
        self.n_loops = 0;
    }
}
