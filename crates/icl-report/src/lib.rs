//! Records of the program's commands, and documents that show them as HTML, Markdown or on a terminal.
//!
//! A command writes one record per run as a line of JSON. A document is made from finished records
//! alone: [`comparison_document`], [`update_document`], [`stream_document`], [`training_document`],
//! [`backends_document`], [`paper::document`], [`dacl::dacl_document`] and, from numbers alone, [`negatives_document`] and
//! [`ans_document`]. A page of results begins with its answer in one sentence and a picture; the
//! caveats follow.

pub mod ans;
mod backends;
mod browser;
mod chart;
mod comparison;
mod course;
pub mod dacl;
mod document;
mod ending;
mod error;
#[cfg(test)]
pub(crate) mod fixture;
mod inert;
mod negatives;
pub mod paper;
#[cfg(doctest)]
mod readme;
mod record;
mod speed_up;
mod stream;
mod summary;
mod tensorboard;
mod text;
mod training;
mod update;

pub use backends::backends_document;
pub use comparison::comparison_document;
pub use document::{DEFAULT_WIDTH, Document};
pub use error::ReportError;
pub use negatives::{
    AnsTarget, NegativesAdvice, PredictionCourse, ans_document, negatives_document,
};
pub use record::{
    AccuracyByOrigin, BACKEND_SCHEMA, BackendRecord, BackendTask, BackendTrace, COMPARED_STEPS,
    Cells, EmbeddingMap, FloorAccuracies, KeptNeighbours, ProtocolAccuracies, RunRecord, SCHEMA,
    STREAM_SCHEMA, StreamControl, StreamMeasure, StreamRecord, StreamedExperience, TRAIN_SCHEMA,
    TrainRecord, UPDATE_SCHEMA, UpdateRecord, compare_backends, read_records,
};
pub use stream::stream_document;
pub use tensorboard::{Scalar, tensorboard_events, training_scalars, update_scalars};
pub use training::training_document;
pub use update::update_document;
