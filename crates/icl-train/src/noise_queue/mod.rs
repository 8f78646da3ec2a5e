//! Embeddings of earlier steps as noise.

pub(crate) mod old_queue;
mod queue_bias;

pub use queue_bias::QueueBias;
