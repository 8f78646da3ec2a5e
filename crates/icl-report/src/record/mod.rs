//! Records that commands write, one line of JSON each.

mod backends;
mod comparison;
mod jsonl;
mod negatives;
mod outcome;
mod shared;
mod stream;
mod task;
mod training;
mod update;

pub use backends::{BACKEND_SCHEMA, BackendRecord, BackendTask, BackendTrace, COMPARED_STEPS};
pub use comparison::{
    AccuracyByOrigin, EmbeddingMap, FloorAccuracies, ProtocolAccuracies, RunRecord, SCHEMA,
};
pub use jsonl::{parse_records, read_records};
pub use negatives::{BestNegatives, NEGATIVES_SCHEMA, NegativesRecord};
pub use outcome::{CommandOutcome, OutcomeCost, OutcomeRisks, OutcomeRun, OutcomeSchema};
pub use shared::{HoldOutRule, MadeBy, RunSettings, TrainingCourse, TrainingSummary, UpdateFacts};
pub use stream::{
    Cells, STREAM_SCHEMA, StreamControl, StreamMeasure, StreamRecord, StreamedExperience,
};
pub use task::{TaskAccuracy, TaskFeatures};
pub use training::{TRAIN_SCHEMA, TrainRecord};
pub use update::{KeptNeighbours, UPDATE_SCHEMA, UpdateRecord};
