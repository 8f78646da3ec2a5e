//! Methods as points in a space of four choices, and the one trainer that runs them all.

mod average;
mod batch_loss;
mod checkpoint;
mod counters;
mod error;
mod evaluation;
mod inner_loop;
mod method;
mod objective;
mod old_queue;
mod optimizer;
mod outcome;
mod parameter_change;
mod plan;
mod prefetch;
mod problem;
mod queue_bias;
mod rate;
mod record;
mod reservoir;
mod risk;
mod run;
mod saved;
mod settings;
mod settle;
mod step_gradient;
mod step_report;
mod stopping;
mod target;
mod trainer;
mod watch;
mod widening;

pub use checkpoint::{
    CheckpointError, Identity, read_checkpoint, write_atomically, write_checkpoint,
};
pub use error::TrainError;
pub use evaluation::{Evaluated, Evaluator};
pub use inner_loop::{Adapted, InnerStep, adapt, first_order, nested_second_order, second_order};
pub use method::{Method, OptimizerChoice, RateChoice, Start};
pub use objective::{Noise, Objective};
pub use optimizer::{OnePassAdam, UpdateRule};
pub use outcome::{Outcome, Progress};
pub use parameter_change::parameter_change;
pub use plan::{BatchPlan, EpochPlan, Planner, StepPlan};
pub use problem::Problem;
pub use queue_bias::QueueBias;
pub use record::{Evaluation, Seconds, TrainingRecord};
pub use reservoir::Reservoir;
pub use settings::{Distance, MetaOrder, SettingsError, TrainingSettings};
pub use step_report::{StepReport, StepSeconds};
pub use stopping::StopRule;
pub use target::{TimeToTarget, plateau, time_to_target};
pub use trainer::Trainer;
pub use watch::Watch;
