//! The devices of each backend by the names that users write.

use burn::tensor::backend::Backend;

/// Backend whose devices have names.
pub trait ProgramDevices: Backend {
    /// Names that a device can have.
    const DEVICES: &'static str;

    /// Returns the device of this name, whether or not the machine has it.
    fn named(name: &str) -> Option<Self::Device>;

    /// Whether using the device can end the process where there is no such device, or no driver.
    fn may_be_missing(device: &Self::Device) -> bool;

    /// Returns the names of the devices that the machine may have, according to the driver.
    ///
    /// # Panics
    /// On some backends, if there is no driver.
    fn candidates() -> Vec<String>;

    /// Returns a description of the device for users.
    ///
    /// # Panics
    /// On some backends, if there is no such device.
    fn description(device: &Self::Device) -> String {
        Self::name(device)
    }
}

#[cfg(feature = "flex")]
impl ProgramDevices for burn::backend::Flex {
    const DEVICES: &'static str = "cpu";

    fn named(name: &str) -> Option<Self::Device> {
        (name == "cpu").then(Default::default)
    }

    fn may_be_missing(_device: &Self::Device) -> bool {
        false
    }

    fn candidates() -> Vec<String> {
        vec!["cpu".to_owned()]
    }

    fn description(_device: &Self::Device) -> String {
        let n = std::thread::available_parallelism().map_or(1, |n| n.get());
        format!("CPU, {n} threads")
    }
}

#[cfg(feature = "tch")]
impl ProgramDevices for burn::backend::LibTorch {
    const DEVICES: &'static str = "cpu, cuda, cuda:N or mps";

    fn named(name: &str) -> Option<Self::Device> {
        use burn::backend::libtorch::LibTorchDevice;
        match name {
            "cpu" => Some(LibTorchDevice::Cpu),
            "mps" => Some(LibTorchDevice::Mps),
            _ => numbered(name, "cuda").map(LibTorchDevice::Cuda),
        }
    }

    fn may_be_missing(device: &Self::Device) -> bool {
        *device != Self::Device::default()
    }

    /// Lists one GPU at most: Burn does not report how many LibTorch has found.
    fn candidates() -> Vec<String> {
        let gpu = if cfg!(target_os = "macos") {
            "mps"
        } else {
            "cuda:0"
        };
        ["cpu", gpu].map(ToOwned::to_owned).into()
    }
}

#[cfg(any(feature = "wgpu", feature = "vulkan"))]
impl<F, I, T> ProgramDevices for burn::backend::wgpu::Wgpu<F, I, T>
where
    F: burn::backend::wgpu::FloatElement,
    I: burn::backend::wgpu::IntElement,
    T: burn::backend::wgpu::BoolElement,
{
    const DEVICES: &'static str =
        "default, cpu, discrete, integrated or virtual, the last three also with :N";

    fn named(name: &str) -> Option<Self::Device> {
        use burn::backend::wgpu::WgpuDevice;
        match name {
            "default" => Some(WgpuDevice::DefaultDevice),
            "cpu" => Some(WgpuDevice::Cpu),
            _ => numbered(name, "discrete")
                .map(WgpuDevice::DiscreteGpu)
                .or_else(|| numbered(name, "integrated").map(WgpuDevice::IntegratedGpu))
                .or_else(|| numbered(name, "virtual").map(WgpuDevice::VirtualGpu)),
        }
    }

    fn may_be_missing(_device: &Self::Device) -> bool {
        true
    }

    fn candidates() -> Vec<String> {
        // The numbers are those by which the runtime knows kinds of devices.
        let kinds = [(0, "discrete"), (1, "integrated"), (2, "virtual")];
        let of_kind = |(kind, name): (u16, &str)| {
            let names: Vec<String> = (0..Self::device_count(kind))
                .map(|index| format!("{name}:{index}"))
                .collect();
            names
        };
        let gpus = kinds.into_iter().flat_map(of_kind);
        let cpu = (Self::device_count(3) > 0).then(|| "cpu".to_owned());
        gpus.chain(cpu).collect()
    }

    fn description(device: &Self::Device) -> String {
        use burn::backend::wgpu::{graphics::AutoGraphicsApi, init_setup};
        let info = init_setup::<AutoGraphicsApi>(device, Default::default())
            .adapter
            .get_info();
        format!("{}, {}", info.name, info.driver)
    }
}

#[cfg(feature = "cuda")]
impl ProgramDevices for burn::backend::Cuda {
    const DEVICES: &'static str = "the number of a GPU, from 0";

    fn named(name: &str) -> Option<Self::Device> {
        name.parse().ok().map(burn::backend::cuda::CudaDevice::new)
    }

    fn may_be_missing(_device: &Self::Device) -> bool {
        true
    }

    fn candidates() -> Vec<String> {
        (0..Self::device_count(0))
            .map(|index| index.to_string())
            .collect()
    }
}

/// Returns the number after the kind of a device, 0 where there is none.
#[cfg(any(feature = "tch", feature = "wgpu", feature = "vulkan"))]
fn numbered(name: &str, kind: &str) -> Option<usize> {
    match name.strip_prefix(kind)? {
        "" => Some(0),
        rest => rest.strip_prefix(':')?.parse().ok(),
    }
}
