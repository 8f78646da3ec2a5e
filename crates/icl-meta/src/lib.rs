//! What the paper adds to optimisation: an inner loop before each update, and learning rates that are
//! chosen step by step.

mod inner_loop;
mod rate;

pub use inner_loop::{
    Adapted, InnerStep, adapt, first_order, nested_second_order, owned, second_order,
};
pub use rate::{Pair, PolicyState, RateChoice, RateError, RatePolicy, Situation};
