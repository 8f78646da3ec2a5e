//! The number of negatives K of training steps: its schedule over a run, and its form in the loss.

mod advice;
mod choice;
mod schedule;

pub(crate) use advice::Advice;
pub use choice::{NegativesForm, NegativesPeak, StepNegatives};
pub use schedule::NegativesSchedule;
