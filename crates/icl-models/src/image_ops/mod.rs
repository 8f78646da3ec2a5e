//! Image operators with kernels of their own.
//!
//! Images are `[n, height, width, channels]` here, channels last: the layout in which a convolution
//! is a product of matrices and normalisation works on columns. [`ImageBackend`] provides a default
//! composed of Burn's operators for every backend; a backend with a faster kernel overrides it.

mod autodiff;
mod backend;
mod batch_norm;
mod composed;
#[cfg(feature = "flex")]
mod flex;
#[cfg(feature = "tch")]
mod libtorch;
mod window;

pub use backend::ImageBackend;
pub use batch_norm::{BatchNormGradients, BatchNormSaved};
pub use window::Window;
