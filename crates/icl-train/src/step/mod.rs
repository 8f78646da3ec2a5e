//! Steps of the optimizer: batches, loss, gradient, update, and the state between them.

pub(crate) mod average;
pub(crate) mod batch_loss;
pub(crate) mod contrastive;
pub(crate) mod copies;
pub(crate) mod counters;
pub(crate) mod distillation;
pub(crate) mod prefetch;
pub(crate) mod rule;
pub(crate) mod run;
pub(crate) mod sharded_gradient;
pub(crate) mod step_gradient;
