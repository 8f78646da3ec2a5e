//! Operators on images, for convolutional networks.
//!
//! Images are `[n, h, w, c]`, channels last: the layout in which a convolution is a product of matrices and
//! normalisation works on columns. h′ and w′ are the sides after a [`Window`] ([`Window::output`]). Rows of
//! numbers are normalised as images of one pixel.

#[cfg(feature = "kernels")]
mod autodiff;
pub(crate) mod batch_norm;
pub(crate) mod convolution;
#[cfg(feature = "cube")]
mod cube;
pub(crate) mod dense_product;
#[cfg(feature = "flex")]
mod flex;
mod kernels;
#[cfg(feature = "tch")]
mod libtorch;
pub(crate) mod max_pool;
pub(crate) mod saved;
mod window;

pub use batch_norm::{batch_norm, scale_shift};
pub use convolution::convolution;
pub use dense_product::dense_product;
pub use max_pool::max_pool;
pub use window::Window;
