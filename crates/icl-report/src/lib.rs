//! Records of the program's commands, and documents that show them as HTML, Markdown or on a terminal.
//!
//! A command writes one record per run as a line of JSON. A document is made from finished records
//! alone: [`comparison_document`], [`update_document`], [`stream_document`], [`training_document`],
//! [`backends_document`] and [`negatives_document`]. No page computes statistics: all numbers of a
//! comparison over its seeds are in [`Comparison`]. A page of results begins with its answer in one sentence and a
//! picture; the caveats follow.
//!
//! Other pages are made of the same parts: blocks and tables ([`document`]), charts ([`chart`]), numbers as every page
//! writes them ([`text`]), and statistics over the seeds ([`summary`]).

mod backends;
mod browser;
pub mod chart;
mod comparison;
mod course;
pub mod document;
mod error;
#[cfg(test)]
pub(crate) mod fixture;
mod inert;
pub mod negatives;
mod stop_reason;
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
mod record;
mod stream;
pub mod summary;
mod task;
mod tensorboard;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod text;
mod training;
mod update;

pub use backends::backends_document;
pub use comparison::comparison_document;
pub use document::{DEFAULT_WIDTH, Document};
pub use error::ReportError;
pub use negatives::{NegativesAdvice, PredictionCourse, negatives_document};
pub use record::{
    AccuracyByOrigin, BACKEND_SCHEMA, BackendRecord, BackendTask, BackendTrace, BestNegatives,
    COMPARED_STEPS, Cells, CommandOutcome, EmbeddingMap, FloorAccuracies, HoldOutRule,
    KeptNeighbours, MadeBy, NEGATIVES_SCHEMA, NegativesRecord, OutcomeCost, OutcomeRisks,
    OutcomeRun, OutcomeSchema, ProtocolAccuracies, RunRecord, RunSettings, SCHEMA, STREAM_SCHEMA,
    StreamControl, StreamMeasure, StreamRecord, StreamedExperience, TRAIN_SCHEMA, TaskAccuracy,
    TaskFeatures, TrainRecord, TrainingCourse, TrainingSummary, UPDATE_SCHEMA, UpdateFacts,
    UpdateRecord, parse_records, read_records,
};
pub use stream::stream_document;
pub use summary::backends::compare_backends;
pub use summary::{Comparison, Excess, Parity, WithinBudget, protocols};
pub use tensorboard::{Scalar, tensorboard_events, training_scalars, update_scalars};
pub use training::training_document;
pub use update::{update_document, verdict_sentences};
