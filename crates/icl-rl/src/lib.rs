//! An agent for one continuous action: deep deterministic policy gradients with a recurrent actor.

mod actor;
mod affine;
mod config;
mod critic;
mod ddpg;
mod error;
mod frame;
mod history;
mod lstm;
mod minibatch;
mod ou_noise;
mod replay;
mod saving;
mod soft_update;
mod td_target;

pub use config::DdpgConfig;
pub use ddpg::{Ddpg, Feedback, Learned};
pub use error::RlError;
pub use ou_noise::{OuNoise, OuNoiseConfig, OuState};

#[cfg(test)]
mod testing;
