//! Meta-optimization and learning-rate policies: an inner loop before each update, and learning rates
//! that are chosen step by step.
//!
//! Equation numbers are those of Ji et al., "Unbiased and Efficient Self-Supervised Incremental
//! Contrastive Learning" (WSDM 2023).
//!
//! | item | content |
//! |---|---|
//! | [`adapt`], [`Adapted`], [`InnerStep`] | the inner loop on the support set (Eq. 11) |
//! | [`relative_move`] | how far an inner loop has moved the parameters |
//! | [`first_order`], [`second_order`], [`nested_second_order`] | the gradient of the query's loss (Eq. 12): without and with the derivative of the inner loop |
//! | [`owned`] | a copy of a module that shares no state with it |
//! | [`RateChoice`], [`RatePolicy`], [`Situation`], [`Pair`] | sources of the learning rate (Eq. 13–15, controls and ours) |
//! | [`MetaRule`] | both, as the rule of a trainer's steps |
//! | [`PolicyState`] | the state of a policy in a checkpoint |

mod inner_loop;
mod rate;
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
mod rule;

pub use inner_loop::{
    Adapted, InnerStep, adapt, first_order, nested_second_order, owned, relative_move, second_order,
};
// A policy is made from a choice.
pub use icl_core::RateChoice;
pub use rate::{Pair, PolicyState, RatePolicy, Situation};
pub use rule::MetaRule;
