//! Keeps a contrastive encoder up to date as data arrives.
//!
//! This crate is the front door: it re-exports the other crates under one name each.
//!
//! | module | content |
//! |---|---|
//! | [`prelude`] | everything that an update needs |
//! | [`core`] | losses, exact risk, the traits of encoders and data |
//! | [`train`] | methods as points of five axes, the trainer, evaluation, checkpoints |
//! | `meta` (feature `meta`) | the inner loop of meta-optimization, learning rates that follow a run |
//! | [`models`] | GCN, GIN, ResNet-18, MLP, operators |
//! | [`data`] | graphs, images and tables: readers, views, splits |
//! | [`eval`] | accuracies with their floors |

pub mod prelude;
#[cfg(doctest)]
mod readme;

pub use icl_core as core;
pub use icl_data as data;
pub use icl_eval as eval;
#[cfg(feature = "meta")]
pub use icl_meta as meta;
pub use icl_models as models;
pub use icl_train as train;
