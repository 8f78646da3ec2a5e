//! Batches of graphs: one block-diagonal graph on the device, the input of a graph encoder.
//!
//! These types are in this crate because the crates that make them (`icl-data`) and that use them
//! (`icl-models`) do not depend on each other.

mod batch;

pub use batch::{GraphBatch, HostGraphs};
pub use icl_kernels::graph::{Csr, HostCsr, SparseMatrix};
