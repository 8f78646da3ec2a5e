//! Operators on images.

mod batch_norm;
mod convolution;
mod derivatives;
mod max_pool;
