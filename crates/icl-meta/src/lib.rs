//! Methods as points in a space of four choices, and the one trainer that runs them all.

mod average;
mod error;
mod evaluation;
mod method;
mod objective;
mod optimizer;
mod outcome;
mod parameter_change;
mod plan;
mod prefetch;
mod problem;
mod record;
mod run;
mod settings;
mod settle;
mod stopping;
mod target;
mod trainer;

pub use error::TrainError;
pub use evaluation::{Evaluated, Evaluator};
pub use method::{Method, OptimizerChoice, RateChoice, Start};
pub use objective::{Noise, Objective};
pub use optimizer::UpdateRule;
pub use outcome::{Outcome, Progress};
pub use parameter_change::parameter_change;
pub use plan::{EpochPlan, StepPlan};
pub use problem::Problem;
pub use record::{Evaluation, Seconds, TrainingRecord};
pub use settings::{SettingsError, TrainingSettings};
pub use stopping::StopRule;
pub use target::{TimeToTarget, plateau, time_to_target};
pub use trainer::Trainer;
