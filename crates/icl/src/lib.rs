//! Keeps a contrastive encoder up to date as data arrives.
//!
//! This crate is the front door: each of the others under one name, and a [`prelude`] of what every
//! update needs.

pub mod prelude;
#[cfg(doctest)]
mod readme;

pub use icl_core as core;
pub use icl_data as data;
pub use icl_eval as eval;
pub use icl_meta as meta;
pub use icl_models as models;
pub use icl_train as train;
