//! Parts for Burn's own training loop (`burn::train`): a step, metrics, early stopping, and a trainer's epochs for its
//! renderers.

mod epoch_metrics;
mod metric;
mod origin_batcher;
mod output;
mod step;
mod stopping;

pub use epoch_metrics::EpochMetrics;
pub use metric::PairMetric;
pub use origin_batcher::OriginBatcher;
pub use output::{PairBatch, PairInput, PairOutput};
pub use step::{ContrastiveStep, ContrastiveStepConfig};
pub use stopping::GainEarlyStoppingStrategy;
