//! The samples of epochs, steps and batches.

mod parts;
pub(crate) mod plan;
mod reservoir;
pub(crate) mod widening;

#[cfg(feature = "testing")]
pub use plan::{BatchPlan, EpochPlan, Planner, StepPlan};
