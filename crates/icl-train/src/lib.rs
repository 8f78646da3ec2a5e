//! Methods as points in a space of independent choices, and the one trainer that runs them all.

mod checkpoint;
mod error;
mod evaluation;
mod method;
mod noise_queue;
mod optimizer;
mod progress;
mod sampling;
mod step;
mod trainer;

pub use checkpoint::{CheckpointError, Identity, read_checkpoint, write_checkpoint};
pub use error::TrainError;
pub use evaluation::{
    Evaluated, Evaluator, Measured, StopRule, TimeToTarget, plateau, time_to_target,
};
pub use icl_meta::RateChoice;
pub use method::{
    DEFAULT, Loss, LossKind, MetaOrder, Method, MethodError, OptimizerChoice, REFERENCE, Start,
    methods, parse_methods,
};
pub use optimizer::{OnePassAdam, UpdateRule};
pub use progress::{
    Callbacks, Evaluation, Outcome, Progress, QueueBias, Seconds, StepReport, StepSeconds,
    TrainingRecord, parameter_change,
};
pub use sampling::Sampling;
#[cfg(feature = "testing")]
pub use sampling::{BatchPlan, EpochPlan, Planner, StepPlan};
pub use step::Distance;
pub use trainer::{SettingsError, Trainer, TrainingSettings};
