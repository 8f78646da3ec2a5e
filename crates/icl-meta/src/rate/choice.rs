//! The choices of a learning rate.

use serde::{Deserialize, Serialize};

/// Source of the learning rate. [`Cosine`](Self::Cosine) and [`Hypergradient`](Self::Hypergradient)
/// are the controls of the learned ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RateChoice {
    /// One number, that of the settings.
    Fixed,
    /// Falls from the learning rate of the settings to 0 over the maximum number of epochs, as half a
    /// cosine.
    Cosine,
    /// Follows the cosine between successive gradients (Baydin et al., 2018).
    Hypergradient,
    /// DDPG agents with the paper's state, action and reward (Eq. 13–15).
    LearnedAsPublished,
    /// DDPG agents with a logarithmic action, a normalised state and a paired reward.
    Learned,
}
