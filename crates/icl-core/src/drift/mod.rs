//! Drift of the noise distribution: the bias of inference (Table 2) with its distribution without any drift.
//!
//! | item | content |
//! |---|---|
//! | [`DriftData`] | embeddings of anchors with positives, of old and of new noise |
//! | [`DriftTestConfig`], [`DriftTest`] | the test: temperature, K, α, effect, number of relabellings, seed |
//! | [`Drift`], [`AnchorDrift`] | the result of the test, for old and for new anchors |
//! | [`Estimate`] | a mean over all rows from a random subset, with its standard error |
//! | [`AnchorTerms`] | the terms of the losses of one anchor, without its self-pairs |
//! | [`NoDrift`] | the distribution of the statistic without drift |
//! | [`Discrepancy`] | a general two-sample test of old and new noise (MMD), where new data have no positives |
//! | [`Verdict`] | the answer: update, keep, or undecided by these data |
//!
//! Everything is on the host and in double precision: the embeddings may come from any framework.

mod candidates;
mod data;
mod directions;
mod discrepancy;
mod estimate;
mod holm;
mod measurement;
mod no_drift;
mod reason;
mod relabelling;
mod self_pairs;
mod subset;
mod terms;
mod test;
mod verdict;

pub use data::DriftData;
pub use discrepancy::Discrepancy;
pub use estimate::Estimate;
pub use measurement::{AnchorDrift, Drift};
pub use no_drift::NoDrift;
pub use terms::AnchorTerms;
pub use test::{DriftTest, DriftTestConfig};
pub use verdict::Verdict;
