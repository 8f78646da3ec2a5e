//! Sampling: the samples that are anchors and noise, and their proportion.

pub(crate) mod choice;
pub(crate) mod pair_maker;
pub(crate) mod partners;
pub(crate) mod plan;
mod reservoir;
pub(crate) mod widening;

pub use choice::Sampling;
#[cfg(feature = "testing")]
pub use plan::{BatchPlan, EpochPlan, Planner, StepPlan};
