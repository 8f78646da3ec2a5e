//! The agent: configuration, acting, learning, saving and loading.

mod config;
mod ddpg;
mod frame;
mod learner;
mod saving;

pub use config::DdpgConfig;
pub use ddpg::{Ddpg, Feedback};
pub use learner::Learned;
