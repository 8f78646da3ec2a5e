//! Sources of the learning rate: a fixed number, controls without learning agents, and two kinds of
//! agents.

mod choice;
mod hypergradient;
mod learned;
mod policy;
mod published;
mod running;
mod schedules;
mod situation;

pub use choice::RateChoice;
pub use policy::{PolicyState, RateError, RatePolicy};
pub use situation::{Pair, Situation};
