//! Counters of a run, within an epoch and between evaluations.

use serde::{Deserialize, Serialize};

use crate::evaluation::evaluator::Risk;
use crate::evaluation::stopping::Descent;
use crate::progress::record::TrainingRecord;
use crate::sampling::choice::Sampling;
use crate::sampling::widening::Widening;
use icl_meta::Pair;

/// Sums, counts and stopping state of a run, beside its encoder.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Counters {
    /// Number of steps taken in this epoch.
    pub(crate) n_steps: usize,
    loss_sum: f64,
    query_rate_sum: f64,
    support_rate_sum: f64,
    n_support: usize,
    support_move_sum: f64,
    /// Number of inner loops in this epoch.
    n_loops: usize,
    /// Cosine between the gradients at θ and at θ′ in the first step of this epoch.
    query_cosine: Option<f64>,
    /// Learning rate of the last step.
    pub(crate) query_rate: f64,
    /// Losses of a query before and after the inner steps, for the next act of their agent.
    pub(crate) support_pair: Option<Pair>,
    pub(crate) next_evaluation: usize,
    pub(crate) risks: Descent,
    pub(crate) losses: Descent,
    /// Exact risk at the last evaluation.
    pub(crate) risk: Option<f64>,
    widening: Option<Widening>,
    first_fraction: f64,
    /// Whether the run is complete.
    pub(crate) is_complete: bool,
}

impl Counters {
    /// Creates the counters of a run whose first epoch holds the share `fraction` of the old data.
    pub(crate) fn new(sampling: Sampling, fraction: f64) -> Self {
        Self {
            widening: sampling.widening_from().map(Widening::new),
            first_fraction: fraction,
            ..Self::default()
        }
    }

    /// Returns the share of the old data in the next epoch.
    pub(crate) fn fraction(&self) -> f64 {
        let widened = self.widening.map(|widening| widening.fraction());
        widened.unwrap_or(self.first_fraction)
    }

    /// Returns whether the share of the old data follows the exact risk.
    pub(crate) fn is_widening(&self) -> bool {
        self.widening.is_some()
    }

    /// Adds the result of an evaluation.
    pub(crate) fn add_risk(&mut self, risk: &impl Risk) {
        self.risk = Some(risk.all());
        if let Some(widening) = &mut self.widening {
            let before = widening.fraction();
            widening.observe(risk.all(), risk.old());
            if widening.fraction() != before {
                // Another share of old data is another training loss.
                self.losses = Descent::default();
            }
        }
    }

    /// Adds a step with this loss and learning rate.
    pub(crate) fn add_step(&mut self, loss: f64, rate: f64) {
        self.n_steps += 1;
        self.loss_sum += loss;
        self.query_rate_sum += rate;
    }

    /// Adds an inner step with this learning rate.
    pub(crate) fn add_support_rate(&mut self, rate: f64) {
        self.n_support += 1;
        self.support_rate_sum += rate;
    }

    /// Adds an inner loop that moved the parameters by `relative_move`, and the cosine between the gradients
    /// at both of its ends if it was measured.
    pub(crate) fn add_adaptation(&mut self, relative_move: f64, cosine: Option<f64>) {
        self.n_loops += 1;
        self.support_move_sum += relative_move;
        self.query_cosine = self.query_cosine.or(cosine);
    }

    /// Adds the epoch to the record and resets the counters for the next epoch.
    pub(crate) fn end_epoch<R>(&mut self, record: &mut TrainingRecord<R>) {
        let n = self.n_steps as f64;
        record.epoch_losses.push(self.loss_sum / n);
        record.epoch_ends_s.push(record.seconds.training());
        record.learning_rates.push(self.query_rate_sum / n);
        record.old_fractions.push(self.fraction());
        if self.n_support > 0 {
            let rate = self.support_rate_sum / self.n_support as f64;
            record.support_learning_rates.push(rate);
        }
        if self.n_loops > 0 {
            let mean = self.support_move_sum / self.n_loops as f64;
            record.support_moves.push(mean);
        }
        record.query_cosines.extend(self.query_cosine.take());
        self.n_steps = 0;
        self.loss_sum = 0.0;
        self.query_rate_sum = 0.0;
        self.support_rate_sum = 0.0;
        self.n_support = 0;
        self.support_move_sum = 0.0;
        self.n_loops = 0;
    }
}
