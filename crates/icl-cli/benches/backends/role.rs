//! The backends of this binary, and what is expected of them and of PyTorch.

use crate::case::{Case, LARGE};

/// Names of the backends of this binary.
pub const BACKENDS: &[&str] = &[
    #[cfg(feature = "flex")]
    "flex",
    #[cfg(feature = "tch")]
    "tch",
    #[cfg(feature = "wgpu")]
    "wgpu",
    #[cfg(feature = "vulkan")]
    "vulkan",
    #[cfg(feature = "cuda")]
    "cuda",
];

/// Kind of a side, on which its goals depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The default backend, which computes on the CPU.
    Flex,
    /// LibTorch on the CPU.
    LibTorch,
    /// Backend of ours that computes on CUDA.
    Cuda,
    /// Backend of ours that computes on the device that its driver finds.
    Driver,
    /// PyTorch.
    Peer,
}

impl Role {
    /// Returns the role of a backend of ours.
    pub fn of(backend: &str) -> Self {
        match backend {
            "flex" => Self::Flex,
            "tch" => Self::LibTorch,
            "cuda" => Self::Cuda,
            _ => Self::Driver,
        }
    }

    /// Returns whether it is a backend of ours that computes on the CPU.
    pub fn is_on_cpu(self) -> bool {
        matches!(self, Self::Flex | Self::LibTorch)
    }

    /// Returns the largest ratio of a side's time to that of PyTorch that is aimed at.
    pub fn goal(self, case: &Case) -> Option<f64> {
        match (self, case) {
            (Self::Flex, Case::Gcn { .. }) => Some(0.12),
            (Self::Flex, Case::ResNet { .. } | Case::ConvNet { .. }) => Some(0.7),
            (Self::Flex, Case::Perceptron { .. }) => Some(0.8),
            (Self::Flex, Case::InfoNce { .. }) => Some(0.5),
            (Self::Flex, Case::Risk { .. }) => Some(0.3),
            (Self::LibTorch, Case::ResNet { .. }) => Some(1.1),
            (Self::Cuda, Case::Gcn { .. }) => Some(0.5),
            (Self::Cuda, Case::ResNet { side: LARGE, .. }) => Some(1.0),
            _ => None,
        }
    }
}
