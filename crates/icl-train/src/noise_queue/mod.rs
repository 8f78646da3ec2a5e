//! Embeddings of earlier steps as noise.

pub(crate) mod old_queue;
pub(crate) mod queue_bias;
