//! The integration tests of the crate as one program: it is linked once, and generic code is compiled once
//! for all of them.
//!
//! What is compared with plain loops is compared on the backend of the tests, which has kernels, and on one
//! that has none ([`icl_kernels::testing::ComposedBackend`]), so that the composed forms are tested with any features.

#![allow(clippy::unwrap_used, reason = "a failed test says enough")]

mod dense_product;
mod graph_convolution;
mod images;
mod norm_activation;
mod numbers;
mod rows;
mod sparse;
mod sparse_product;
mod threads;
