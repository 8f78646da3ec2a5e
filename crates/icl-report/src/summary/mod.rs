//! Statistics of records, from which pages are written: no page computes any itself.
//!
//! [`Comparison`] holds all numbers of a comparison over its seeds; [`Summary`] and [`SpeedUp`] are those of one
//! quantity.

pub(crate) mod backends;
pub(crate) mod budgets;
pub(crate) mod change;
pub(crate) mod choice;
mod comparison;
mod levels;
mod methods;
mod over_seeds;
pub mod protocols;
pub(crate) mod speed_up;
pub(crate) mod stream;
mod target;
mod verdict;

pub use budgets::{Excess, Parity, WithinBudget};
pub use comparison::{COMPARISON_SCHEMA, Comparison};
pub use levels::{Level, LevelCost};
pub use methods::MethodSummary;
pub use over_seeds::{CONFIDENCE, Summary, deviation, mean, median};
pub use protocols::ProtocolSummary;
pub use speed_up::{Outcome, Rule, SpeedUp, outcome};
pub use target::{Distance, Distances, TargetSummary};
pub use verdict::Verdict;
#[cfg(test)]
pub(crate) use {levels::levels, verdict::verdict};
