//! The networks of the agent, and how target networks follow them.

mod actor;
mod critic;
mod layers;
mod soft_update;

pub(crate) use actor::Actor;
pub(crate) use critic::Critic;
pub(crate) use soft_update::soft_update;
