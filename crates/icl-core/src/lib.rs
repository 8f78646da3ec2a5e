//! What the papers define on tensors, and the traits by which a user's own model joins in.
//!
//! | room | what is in it |
//! |---|---|
//! | [`Contrast`] | what the losses need to know of a batch |
//! | [`QueuedNoise`], [`MixedBatch`] | old noise that was embedded in earlier steps |
//! | [`InfoNce`], [`nce_i`], [`log_mixed_noise`] | NCE-I (Eq. 1–2), also under mixed noise (Eq. 27) |
//! | [`change_ratio`], [`IncrementalInfoNce`], [`nce_ii`] | change ratio (Eq. 6) and NCE-II (Eq. 7–8) |
//! | [`NoiseLosses`], [`RiskBound`] | Table 2, Theorems 1 and 2 |
//! | [`exact_risk`] | the risk over all pairs of the data |
//! | [`Encoder`], [`Views`], [`Collate`], [`Samples`] | what a user implements |
//! | [`graph`] | batches of graphs |
//! | [`Seed`], [`Increment`] | one root seed a run; old and new data |

mod atomic_file;
mod bias;
mod contrast;
mod encoder;
mod error;
pub mod graph;
mod host;
mod increment;
mod log_noise;
mod log_space;
mod loss;
mod memory;
pub mod module_bytes;
mod precision;
mod queued_noise;
mod risk;
mod samples;
mod seed;
mod similarity;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use atomic_file::{AtomicFile, write_atomically};
pub use bias::{NoiseLosses, Part, RiskBound, Strategy};
pub use contrast::Contrast;
pub use encoder::{Batches, Encoder, Mode};
pub use error::CoreError;
pub use host::host_values;
pub use increment::{GrowthRatio, Increment};
pub use loss::{
    IncrementalInfoNce, IncrementalInfoNceConfig, InfoNce, InfoNceConfig, change_ratio,
    log_change_ratio, log_mixed_noise, nce_i, nce_ii,
};
pub use memory::keep_freed_memory;
pub use precision::has_double_precision;
pub use queued_noise::{MixedBatch, QueuedNoise};
pub use risk::{ExactRisk, exact_nce_i, exact_risk};
pub use samples::{Collate, SampleError, Samples, Views};
pub use seed::{Rng, Seed};
pub use similarity::{cosine_similarity, normalize, paired_cosine_similarity};
