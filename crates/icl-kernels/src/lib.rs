//! Operators with kernels of their own for some of Burn's backends, on every backend.
//!
//! Each operator is a function on tensors of any backend. On a backend that has a kernel for it here, it is
//! that kernel; on every other one it is composed of Burn's operators. Both can be differentiated any number
//! of times. The features of this crate choose for which backends there are kernels; no bound of a function
//! changes with them.
//!
//! | item | description |
//! |---|---|
//! | [`image`] | convolution, batch normalisation with residual and ReLU, max pooling, on images with channels last; the product of rows with a weight |
//! | [`graph`] | products with sparse matrices, graph convolution, normalisation with leaky ReLU and dropout |
//! | [`rows`] | rows of unit length; the log of the sum of exponentials of products of rows, and who scores above a given score |
//! | [`OnePassAdam`], [`lerp`] | updates of parameters in one pass over memory |
//! | [`is_host_memory`] | where tensors lie |
//! | [`beside_kernels`], [`in_pool_of_kernels`] | the threads on which kernels share their work |
//! | [`host_values`], [`has_double_precision`] | values on the host; what a device calculates |
//! | `testing` | a backend to test on, closeness, finite differences (feature `testing`) |

#[cfg(feature = "kernels")]
mod autodiff;
mod backends;
mod device;
mod dropout;
#[cfg(feature = "flex")]
mod flex;
pub mod graph;
pub mod image;
#[doc(hidden)]
pub mod internals;
#[cfg(feature = "tch")]
mod libtorch;
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
pub mod rows;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod threads;
#[cfg(feature = "flex")]
mod tiles;
mod updates;

pub use backends::is_host_memory;
pub use device::{has_double_precision, host_values};
pub use dropout::DropoutMask;
pub use threads::{beside_kernels, in_pool_of_kernels};
pub use updates::{OnePassAdam, lerp};
