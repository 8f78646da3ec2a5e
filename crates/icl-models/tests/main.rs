//! The integration tests of the crate as one program: it is linked once, and generic code is compiled once
//! for all of them.

#![allow(clippy::unwrap_used, reason = "a failed test says enough")]

mod dense_product;
mod gcn;
mod gin;
mod graph_convolution;
mod hidden_mixup;
mod image_operators;
mod mlp;
mod operators;
mod parameters;
mod resnet;
mod resnet_weights;
mod sparse;
mod sparse_product;
mod synthetic;
mod towers;
