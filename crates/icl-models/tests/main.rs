//! The integration tests of the crate as one program: it is linked once, and generic code is compiled once
//! for all of them.

#![allow(clippy::unwrap_used, reason = "a failed test says enough")]

mod convnet;
mod frozen_statistics;
mod gcn;
mod gin;
mod hidden_mixup;
mod hostile_weights;
mod mlp;
mod parameters;
mod resnet;
mod resnet_rejected;
mod resnet_statistics;
mod resnet_weights;
mod synthetic;
mod torch_files;
mod towers;
