//! The rate axis: sources of the learning rate, and those that are functions of the step.

mod choice;
mod schedules;

pub use choice::RateChoice;
pub use schedules::Schedule;
