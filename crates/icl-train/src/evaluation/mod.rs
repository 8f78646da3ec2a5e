//! The exact risk of an encoder, and what is concluded from it.

pub(crate) mod evaluator;
pub(crate) mod parameter_change;
pub(crate) mod risk;
pub(crate) mod stopping;
mod target;

pub use evaluator::{Evaluated, Evaluator, Measured};
pub use parameter_change::parameter_change;
pub use stopping::StopRule;
pub use target::{TimeToTarget, plateau, time_to_target};
