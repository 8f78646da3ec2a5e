//! Operators on graphs, for graph networks: products with sparse matrices, and what follows them in a layer.

#[cfg(feature = "kernels")]
mod autodiff;
pub(crate) mod convolution;
#[cfg(feature = "cube")]
mod cube;
#[cfg(feature = "flex")]
mod flex;
mod kernels;
#[cfg(feature = "tch")]
mod libtorch;
pub(crate) mod norm_activation;
pub(crate) mod saved;
mod sparse_matrix;
mod sparse_product;

pub use convolution::graph_convolution;
pub use norm_activation::norm_activation;
pub use saved::NormActivation;
pub use sparse_matrix::{Csr, HostCsr, SparseMatrix};
pub use sparse_product::sparse_product;
