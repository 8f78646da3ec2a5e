//! The samples of epochs, steps and batches.

pub(crate) mod plan;
mod reservoir;
pub(crate) mod sampler;
mod widening;

#[cfg(feature = "testing")]
pub use plan::{EpochPlan, Planner, StepPlan};
pub use reservoir::Reservoir;
pub use sampler::{BatchPlan, Sampler};
