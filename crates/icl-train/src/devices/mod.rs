//! Training by the members of a group: shards of batches, and values that members exchange.
//!
//! | step of the members | file |
//! |---|---|
//! | each takes its part of a batch | `shards` |
//! | they exchange embeddings, and sum gradients | `floats`, `gradients` |
//! | they check that they still train the same encoder | `replicas` |

pub(crate) mod floats;
pub(crate) mod gradients;
#[cfg(feature = "mpi")]
mod mpi;
pub(crate) mod replicas;
pub(crate) mod shards;

#[cfg(feature = "mpi")]
pub use mpi::Mpi;
