//! Which samples are anchors and noise, in which proportion.

pub(crate) mod plan;
mod reservoir;
pub(crate) mod widening;

pub use plan::{BatchPlan, EpochPlan, Planner, StepPlan};
