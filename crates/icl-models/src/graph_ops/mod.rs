//! Graph operators with kernels of their own.
//!
//! Each is a function on tensors with a backward pass of its own. [`GraphBackend`] provides a default
//! composed of Burn's operators for every backend; a backend with a faster kernel overrides it.

mod autodiff;
mod backend;
#[cfg(any(feature = "wgpu", feature = "vulkan", feature = "cuda"))]
mod cube;
#[cfg(feature = "flex")]
mod flex;
#[cfg(feature = "tch")]
mod libtorch;
mod norm_activation;
mod sparse_product;

pub use backend::GraphBackend;
#[cfg(feature = "testing")]
pub use backend::{composed_graph_convolution, composed_graph_convolution_backward};
pub use norm_activation::{NormActivation, NormActivationSaved};
#[cfg(feature = "testing")]
pub use norm_activation::{composed_norm_activation, composed_norm_activation_backward};
#[cfg(feature = "testing")]
pub use sparse_product::composed_sparse_product;
