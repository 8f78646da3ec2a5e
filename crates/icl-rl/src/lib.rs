//! An agent for one continuous action: deep deterministic policy gradients with a recurrent actor.
//!
//! | item | content |
//! |---|---|
//! | [`DdpgConfig`], [`Ddpg`] | the agent: acting, learning, saving and loading |
//! | [`Feedback`], [`Learned`] | the response of the environment; statistics of a step of learning |
//! | [`OuNoiseConfig`], [`OuNoise`], [`OuState`] | exploration noise, an Ornstein–Uhlenbeck process |

mod agent;
mod error;
mod network;
mod ou_noise;
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
mod replay;
#[cfg(test)]
mod testing;

pub use agent::{Ddpg, DdpgConfig, Feedback, Learned};
pub use error::RlError;
pub use ou_noise::{OuNoise, OuNoiseConfig, OuState};
