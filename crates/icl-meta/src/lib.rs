//! Methods as points in a space of four choices, and the one trainer that runs them all.

mod average;
mod evaluation;
mod method;
mod objective;
mod optimizer;
mod parameter_change;
mod plan;
mod prefetch;
mod problem;
mod record;
mod settings;
mod settle;
mod stopping;
mod target;
mod trainer;

pub use evaluation::{Evaluated, Evaluator};
pub use method::{Method, OptimizerChoice, RateChoice, Start};
pub use objective::{Noise, Objective};
pub use optimizer::UpdateRule;
pub use parameter_change::parameter_change;
pub use plan::{EpochPlan, StepPlan};
pub use problem::Problem;
pub use record::{Evaluation, Seconds, TrainingRecord};
pub use settings::{SettingsError, TrainingSettings};
pub use stopping::StopRule;
pub use target::{TimeToTarget, plateau, time_to_target};
pub use trainer::{Outcome, Progress, TrainError, Trainer};
