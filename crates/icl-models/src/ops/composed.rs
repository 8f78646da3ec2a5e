//! Backends on which the composed forms serve.

use super::GraphBackend;

#[cfg(feature = "tch")]
impl GraphBackend for burn::backend::LibTorch {}

#[cfg(feature = "wgpu")]
impl GraphBackend for burn::backend::Wgpu {}

#[cfg(feature = "vulkan")]
impl GraphBackend for burn::backend::Vulkan {}

#[cfg(feature = "cuda")]
impl GraphBackend for burn::backend::Cuda {}
