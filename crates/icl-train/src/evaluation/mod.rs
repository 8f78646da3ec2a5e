//! The exact risk of an encoder, and the decisions that follow from it.

pub(crate) mod builder;
mod embed;
pub(crate) mod evaluated;
pub(crate) mod evaluator;
pub(crate) mod fixed_views;
pub(crate) mod gain;
mod held_out;
pub(crate) mod shape;
mod soundness;
pub(crate) mod stopping;
mod verdict;

pub use evaluated::{Evaluated, Measured};
pub use evaluator::Evaluator;
pub use gain::ExpectedGain;
pub use stopping::{GainRule, StopRule, StoppedBy};
pub use verdict::{Answer, PairedDifference, Verdict};
