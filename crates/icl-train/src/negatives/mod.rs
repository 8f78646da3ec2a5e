//! The number of negatives K of training steps: its schedule over a run, and its form in the loss.

mod choice;
mod schedule;

pub use choice::{NegativesForm, NegativesPeak, StepNegatives, StepNegativesError};
pub use schedule::NegativesSchedule;
