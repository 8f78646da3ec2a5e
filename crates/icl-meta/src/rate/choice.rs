//! The choices of a learning rate.

use std::fmt;
use std::str::FromStr;

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

impl RateChoice {
    const ALL: [Self; 5] = [
        Self::Fixed,
        Self::Cosine,
        Self::Hypergradient,
        Self::LearnedAsPublished,
        Self::Learned,
    ];
}

impl fmt::Display for RateChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fixed => "fixed",
            Self::Cosine => "cosine",
            Self::Hypergradient => "hypergradient",
            Self::LearnedAsPublished => "learned-published",
            Self::Learned => "learned",
        })
    }
}

impl FromStr for RateChoice {
    /// The texts that are expected.
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_it = |choice: &Self| choice.to_string() == text;
        Self::ALL
            .into_iter()
            .find(is_it)
            .ok_or("fixed, cosine, hypergradient, learned-published or learned")
    }
}
