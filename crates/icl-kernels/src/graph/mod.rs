//! Operators on graphs, for graph networks: products with sparse matrices, and what follows them in a layer.

#[cfg(feature = "kernels")]
mod autodiff;
mod convolution;
#[cfg(feature = "cube")]
mod cube;
#[cfg(feature = "flex")]
mod flex;
mod kernels;
#[cfg(feature = "tch")]
mod libtorch;
mod norm_activation;
mod saved;
mod sparse_matrix;
mod sparse_product;

pub use convolution::{graph_convolution, graph_convolution_backward};
pub use norm_activation::{norm_activation, norm_activation_backward};
pub use saved::{NormActivation, NormActivationSaved};
pub use sparse_matrix::{Csr, HostCsr, SparseMatrix};
pub use sparse_product::sparse_product;
