//! Learning rates that follow a run: hypergradient descent, and two kinds of agents.

mod hypergradient;
mod learned;
mod policy;
mod published;
mod running;
mod situation;

pub use policy::{PolicyState, RatePolicy};
pub use situation::{Pair, Situation};
