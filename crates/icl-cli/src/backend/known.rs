//! The backends that the program can be built with, whether or not this one was.

/// A backend of the program or of another build of it.
pub struct Known {
    /// Name of the backend and of its cargo feature.
    pub name: &'static str,
    /// Description.
    pub what: &'static str,
    /// Requirements of the build.
    pub to_build: &'static str,
    /// Requirements of a machine that runs it.
    pub to_run: &'static str,
}

/// Returns all backends, the default first.
pub fn known() -> [Known; 5] {
    [
        Known {
            name: "flex",
            what: "pure Rust on the CPU",
            to_build: "nothing",
            to_run: "nothing",
        },
        Known {
            name: "tch",
            what: "LibTorch",
            to_build: "LibTorch 2.9 with its headers, of a Python wheel (LIBTORCH_USE_PYTORCH=1) or a \
                       download (LIBTORCH)",
            to_run: "LibTorch's folder lib in LD_LIBRARY_PATH, and for cuda:N one that was built for \
                     CUDA",
        },
        Known {
            name: "wgpu",
            what: "WebGPU, in WGSL, on Vulkan, Metal or DirectX 12",
            to_build: "nothing",
            to_run: "a graphics driver; on Linux also the Vulkan loader (Debian: libvulkan1, and \
                     mesa-vulkan-drivers for drivers)",
        },
        Known {
            name: "vulkan",
            what: "Vulkan, in SPIR-V",
            to_build: "nothing",
            to_run: "a Vulkan driver and its loader (Debian: libvulkan1, and \
                     mesa-vulkan-drivers for drivers)",
        },
        Known {
            name: "cuda",
            what: "NVIDIA GPUs",
            to_build: "nothing",
            to_run: "an NVIDIA GPU with its driver (libcuda) and NVRTC (libnvrtc of a CUDA toolkit or \
                     Python wheel)",
        },
    ]
}
