//! The integration tests of the laboratory as one program.

#![allow(clippy::unwrap_used, reason = "a failed test says enough")]

mod ans_experiments;
mod dacl;
mod program;
mod reproduce;
mod support;
mod svm;
