//! Reports during a training run, and its record.

mod callbacks;
pub(crate) mod cost;
mod inert;
mod norm;
pub(crate) mod outcome;
pub(crate) mod record;
pub(crate) mod step_report;
mod target;
pub(crate) mod warnings;

pub use callbacks::{Callbacks, EpochReport, Progress};
pub use cost::Cost;
pub use inert::{INERT_MOVE, inert_move};
pub use norm::parameter_norm;
pub use outcome::{Outcome, parameter_change};
pub use record::{Evaluation, Seconds, TrainingRecord};
pub use step_report::{StepReport, StepSeconds};
pub use target::{TARGET_RATIO, TimeToTarget, plateau, time_to_target};
