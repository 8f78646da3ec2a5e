//! Encoders as Burn modules, and the graph operators they stand on.

mod batch_norm;
mod dropout;
mod gcn;
mod graph_conv;
mod ops;
mod readout;

pub use batch_norm::BatchStatistics;
pub use gcn::{Gcn, GcnConfig, GcnError};
pub use graph_conv::{GraphConv, GraphConvConfig};
pub use ops::{GraphBackend, NormActivation, NormActivationSaved};
pub use readout::Readout;
