//! What a training run tells while it goes on, and what it writes down.

mod callbacks;
mod outcome;
pub(crate) mod record;
pub(crate) mod step_report;

pub use callbacks::Callbacks;
pub use outcome::{Outcome, Progress};
pub use record::{Evaluation, QueueBias, Seconds, TrainingRecord};
pub use step_report::{StepReport, StepSeconds};
