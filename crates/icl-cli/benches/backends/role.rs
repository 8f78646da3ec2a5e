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
    /// Backend of ours that computes on the CPU.
    Cpu,
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
            "flex" | "tch" => Self::Cpu,
            "cuda" => Self::Cuda,
            _ => Self::Driver,
        }
    }

    /// Returns the largest ratio of a side's time to that of PyTorch that is aimed at.
    pub fn goal(self, case: &Case) -> Option<f64> {
        match (self, case) {
            (Self::Cpu, Case::Gcn { .. }) => Some(0.2),
            (Self::Cpu, Case::ResNet { .. } | Case::InfoNce { .. }) => Some(1.0),
            (Self::Cuda, Case::Gcn { .. }) => Some(0.5),
            (Self::Cuda, Case::ResNet { side: LARGE, .. }) => Some(1.0),
            _ => None,
        }
    }
}
