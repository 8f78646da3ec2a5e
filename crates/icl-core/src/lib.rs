//! What the papers define on tensors, and the traits by which a user's own model joins in.

mod encoder;
mod error;
pub mod graph;
mod increment;
mod samples;
mod seed;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use encoder::{Batches, Encoder, Mode};
pub use error::CoreError;
pub use increment::{GrowthRatio, Increment};
pub use samples::{Collate, SampleError, Samples, Views};
pub use seed::{Rng, Seed};
