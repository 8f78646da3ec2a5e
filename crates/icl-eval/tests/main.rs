//! The integration tests of the crate as one program: it is linked once, and generic code is compiled once
//! for all of them.

#![allow(clippy::unwrap_used, reason = "a failed test says enough")]

mod alignment;
mod alignment_forms;
mod effective_rank;
mod few_labels;
mod knn;
mod labels;
mod linear_probe;
mod neighbours;
mod planes;
mod ranking;
mod watch;
