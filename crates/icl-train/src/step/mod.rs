//! A training run: its epochs and steps, with batches, loss, gradient and update, and the state between them.

pub(crate) mod batch_loss;
pub(crate) mod contrastive;
pub(crate) mod copies;
pub(crate) mod counters;
mod course;
pub(crate) mod distillation;
mod epochs;
mod monitoring;
pub(crate) mod prefetch;
pub(crate) mod rule;
pub(crate) mod run;
pub(crate) mod saved;
mod sharded_gradient;
mod step_gradient;
