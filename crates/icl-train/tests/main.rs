//! The integration tests of the crate as one program: it is linked once, and generic code is compiled once
//! for all of them.

#![allow(clippy::unwrap_used, reason = "a failed test says enough")]

mod adaptation;
mod applied_rates;
mod average;
mod batch_bits;
mod burn_data;
mod checkpoint;
mod cost;
mod encoder_calls;
mod evaluator;
mod gain_rule;
mod groups;
mod learner;
mod longer_runs;
mod negatives;
mod optimizers;
mod partners;
mod points;
mod sampler;
mod schedulers;
mod starts;
mod step_reports;
mod stream;
mod stream_decisions;
mod toy;
mod trainer;
mod trainer_errors;
mod validation;
