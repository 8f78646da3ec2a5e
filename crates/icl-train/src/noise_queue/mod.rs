//! Embeddings of old samples from earlier steps as old noise.

pub(crate) mod old_queue;
pub(crate) mod queue_bias;
