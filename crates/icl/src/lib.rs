//! Keeps a contrastive encoder up to date as data arrives.
//!
//! This crate gathers the others under one roof and holds what names concrete choices: the registry
//! of methods and the program `icl`.

mod backend_record;
#[cfg(doctest)]
mod readme;
mod record;
mod registry;
#[cfg(feature = "program")]
pub mod report;
#[cfg(feature = "program")]
pub mod reproduce;
mod train_record;
mod update_record;

pub use icl_core as core;
pub use icl_data as data;
pub use icl_eval as eval;
pub use icl_meta as meta;
pub use icl_models as models;

pub use backend_record::{
    BACKEND_SCHEMA, BackendRecord, BackendTask, BackendTrace, COMPARED_STEPS, compare_backends,
};
pub use record::{
    AccuracyParts, EmbeddingMap, FloorParts, ProtocolParts, RiskParts, RunRecord, SCHEMA,
};
pub use registry::{DEFAULT, YARDSTICK, method, methods};
pub use train_record::{TRAIN_SCHEMA, TrainRecord};
pub use update_record::{KeptNeighbours, UPDATE_SCHEMA, UpdateRecord};
