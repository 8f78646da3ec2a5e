//! Experience of the agent: windows of states, stored transitions, and minibatches of them.

mod buffer;
mod minibatch;
mod window;

pub(crate) use buffer::{ReplayBuffer, Transition};
pub(crate) use minibatch::{Minibatch, td_target};
pub(crate) use window::{History, to_tensors};
