//! The samples of epochs, steps and batches.

pub(crate) mod batch_plan;
pub(crate) mod plan;
mod reservoir;
pub(crate) mod sampler;
mod widening;

pub use batch_plan::BatchPlan;
#[cfg(feature = "testing")]
pub use plan::{EpochPlan, Planner, StepPlan};
pub use reservoir::Reservoir;
pub use sampler::Sampler;
