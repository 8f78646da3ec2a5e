//! Which samples are anchors and noise, in which proportion.

pub(crate) mod choice;
pub(crate) mod plan;
mod reservoir;
pub(crate) mod widening;

pub use choice::Sampling;
#[cfg(feature = "testing")]
pub use plan::{BatchPlan, EpochPlan, Planner, StepPlan};
