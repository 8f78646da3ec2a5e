//! Results of evaluations: a risk, with the encoder to which it belongs.

use icl_core::{ExactRisk, negatives::Ranks};

use crate::error::{Place, TrainError};

/// Risk in nats that a run follows: over X′, or over X alone before new data arrive.
pub(crate) trait Risk: Clone + Send {
    /// Returns the risk over all data.
    fn all(&self) -> f64;

    /// Returns the mean of the risk over old and over new data, by which runs decide when to stop: each counts the same,
    /// however small the increment is.
    fn balanced(&self) -> f64;
}

/// Risk over the old data, which are all data.
impl Risk for f64 {
    fn all(&self) -> f64 {
        *self
    }

    fn balanced(&self) -> f64 {
        *self
    }
}

impl Risk for ExactRisk {
    fn all(&self) -> f64 {
        self.all
    }

    fn balanced(&self) -> f64 {
        (self.old + self.new) / 2.0
    }
}

/// Encoder with re-estimated normalisation statistics, unless they are frozen, and its exact risk.
#[derive(Debug, Clone)]
pub struct Evaluated<M, R> {
    /// Encoder to which the risk belongs.
    pub encoder: M,
    /// Exact risk in nats: [`ExactRisk`] over X′, or one number over X.
    pub risk: R,
    /// Loss of each sample of which the risk is the mean, those of old samples first, in nats.
    pub losses: Vec<f64>,
    /// Rank of each sample's positive among the noise, which is all other samples of the evaluation, in the same order.
    pub ranks: Ranks,
    /// Ranks over samples that the run does not train on, if its schedule of negatives needs them.
    pub held_out: Option<Ranks>,
    /// Number of old samples among them.
    pub n_old: usize,
    /// Number of views that passed through the encoder, also for its statistics.
    pub n_views: u64,
    /// Number of those that re-estimated its statistics.
    pub n_statistics_views: u64,
}

/// Function that evaluates an encoder, with the place in the run for messages.
pub(crate) type Evaluate<'a, M, R> = &'a dyn Fn(M, Place) -> Result<Evaluated<M, R>, TrainError>;

/// Function that finds the first sample whose embedding by an encoder is not finite, in the order of the list.
pub(crate) type FirstBad<'a, M> = &'a dyn Fn(&M, &[usize]) -> Result<Option<usize>, TrainError>;

/// Evaluations of a run.
pub(crate) struct Evaluations<'a, M, R> {
    /// Evaluation of an encoder during the run, by which it decides when to stop.
    pub(crate) monitor: Evaluate<'a, M, R>,
    /// Evaluation of the result.
    pub(crate) measure: Evaluate<'a, M, R>,
    /// Search for the first bad sample.
    pub(crate) first_bad: FirstBad<'a, M>,
}

/// Encoder with re-estimated normalisation statistics, unless they are frozen, its exact risk, and the result of a
/// protocol on its embeddings.
#[derive(Debug, Clone)]
pub struct Measured<M, T> {
    /// Encoder that was measured.
    pub encoder: M,
    /// Exact risk over X′.
    pub risk: ExactRisk,
    /// Result of the protocol on the embeddings of all samples.
    pub result: T,
}
