//! Operators on images, for convolutional networks.
//!
//! Images are `[n, h, w, c]`, channels last: the layout in which a convolution is a product of matrices and
//! normalisation works on columns. h′ and w′ are the sides after a [`Window`] ([`Window::output`]). Rows of
//! numbers are normalised as images of one pixel.

#[cfg(feature = "kernels")]
mod autodiff;
mod batch_norm;
mod convolution;
#[cfg(feature = "cube")]
mod cube;
mod dense_product;
#[cfg(feature = "flex")]
mod flex;
mod kernels;
#[cfg(feature = "tch")]
mod libtorch;
mod max_pool;
mod saved;
mod window;

pub use batch_norm::{batch_norm, batch_norm_backward, batch_norm_saving, scale_shift};
pub use convolution::{
    convolution, convolution_gradients, convolution_input_gradient, convolution_weight_gradient,
};
pub use dense_product::{
    dense_product, dense_product_input_gradient, dense_product_weight_gradient,
};
pub use max_pool::{max_pool, scatter_maxima, select_maxima};
pub use saved::{BatchNormGradients, BatchNormSaved};
pub use window::Window;
