//! Parts for Burn's own training loop (`burn::train`): a step, metrics and early stopping.

mod metric;
mod origin_batcher;
mod output;
mod step;
mod stopping;

pub use metric::PairMetric;
pub use origin_batcher::OriginBatcher;
pub use output::{PairBatch, PairInput, PairOutput};
pub use step::{ContrastiveStep, ContrastiveStepConfig};
pub use stopping::GainEarlyStoppingStrategy;
