//! A method is one value on each of four axes.

use icl_meta::RateChoice;
use serde::{Deserialize, Serialize};

use crate::method::objective::Objective;

/// Where the encoder starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Start {
    /// θ₀, trained on the old data.
    Trained,
    /// A fresh encoder.
    Scratch,
}

/// How gradients become an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OptimizerChoice {
    /// Every gradient is applied to θ (Eq. 10), by Adam or SGD as the settings say.
    Plain,
    /// Old data are support, new data query (Eq. 11 and 12): the gradient of the query's loss at
    /// the adapted parameters θ′ is applied to θ.
    Meta,
}

/// A method: its name and its four choices.
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    /// The name in programs and records.
    pub name: &'static str,
    /// The first choice.
    pub start: Start,
    /// The second choice; without one, nothing is trained.
    pub objective: Option<Objective>,
    /// The third choice.
    pub optimizer: OptimizerChoice,
    /// The fourth choice.
    pub rate: RateChoice,
}

impl Method {
    /// An objective from θ₀ with the plain optimizer and one learning rate, for methods that no
    /// registry names.
    pub fn of(objective: Objective) -> Self {
        Self {
            name: "unnamed",
            start: Start::Trained,
            objective: Some(objective),
            optimizer: OptimizerChoice::Plain,
            rate: RateChoice::Fixed,
        }
    }
}
