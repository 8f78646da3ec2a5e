//! A method is one value on each of four axes.

use crate::Objective;

/// Where the encoder starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// θ₀, trained on the old data.
    Trained,
    /// A fresh encoder.
    Scratch,
}

/// How gradients become an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptimizerChoice {
    /// Every gradient is applied to θ (Eq. 10), by Adam or SGD as the settings say.
    Plain,
}

/// Where the learning rate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateChoice {
    /// It is one number, that of the settings.
    Fixed,
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
