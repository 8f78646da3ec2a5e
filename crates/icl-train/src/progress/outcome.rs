//! What a training run tells while it goes on, and what it ends with.

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::ExactRisk;

use crate::TrainingRecord;

/// Where a run stands, told before the first epoch and after each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Epochs trained.
    pub epoch: usize,
    /// The most epochs that there will be.
    pub n_epochs: usize,
    /// The exact risk at the last evaluation, in nats.
    pub risk: f64,
}

/// What a run ends with.
#[derive(Debug, Clone)]
pub struct Outcome<M: AutodiffModule<B>, B: AutodiffBackend, R = ExactRisk> {
    /// The encoder at the end of training, its parameters averaged as the settings say: what a
    /// further training run starts from.
    ///
    /// Start from this one, not from a clone of `encoder`: Burn forgets in such a clone which
    /// parameters are to be trained.
    pub trained: M,
    /// The same for use: without gradients, its statistics re-estimated. Its risk is that of the
    /// last evaluation.
    pub encoder: M::InnerModule,
    /// ‖Δθ‖/‖θ‖ from the run's start to its end, see [`parameter_change`](crate::evaluation::parameter_change).
    pub parameter_change: f64,
    /// What happened.
    pub record: TrainingRecord<R>,
}
