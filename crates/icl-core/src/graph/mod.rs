//! What a graph encoder takes: a batch of graphs as one block-diagonal graph on the device.
//!
//! It stands in the core because those who make it (icl-data) and those who use it (icl-models)
//! do not know each other.

mod batch;
mod sparse;

pub use batch::{GraphBatch, HostGraphs};
pub use sparse::{Csr, HostCsr, SparseMatrix};
