//! Which backends this binary holds, and how a generic computation is run on one of them.

mod devices;
mod known;
mod probe;

use burn::backend::Autodiff;
use burn::tensor::backend::AutodiffBackend;
use icl_models::{GraphBackend, ImageBackend};

use crate::process::failure::Failure;

pub use known::known;
pub use probe::{COMMAND as PROBE, found, probe_here};

use devices::ProgramDevices;

/// The backends of this binary, the default first.
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

/// A backend that every encoder of the program runs on.
pub trait ProgramBackend: GraphBackend + ImageBackend {}

impl<B: GraphBackend + ImageBackend> ProgramBackend for B {}

/// A backend that every encoder of the program can be trained on.
pub trait TrainingBackend: AutodiffBackend<InnerBackend: ProgramBackend> + ProgramBackend {}

impl<B: AutodiffBackend<InnerBackend: ProgramBackend> + ProgramBackend> TrainingBackend for B {}

/// A computation that is generic over the backend.
pub trait OnBackend {
    /// What it gives.
    type Output;

    /// The computation on `B`, whose gradients are there for those who want them.
    fn run<B: TrainingBackend>(self, device: B::Device) -> Result<Self::Output, Failure>;
}

/// Runs a computation on the backend and device of this name, as NAME or NAME:DEVICE.
///
/// # Errors
/// If this binary does not hold it, the device cannot be used, or the computation fails.
pub fn on_backend<T: OnBackend>(backend: &str, task: T) -> Result<T::Output, Failure> {
    with_backend(backend, On { backend, task })?
}

/// That this binary holds the backend, and that it has devices of that name.
///
/// # Errors
/// If it does not.
pub fn check(backend: &str) -> Result<(), Failure> {
    with_backend(backend, Check { backend })?
}

/// That the backend's device can be used.
///
/// # Errors
/// If it cannot, or the binary does not hold it.
pub fn check_usable(backend: &str) -> Result<(), Failure> {
    with_backend(backend, CheckUsable { backend })?
}

/// What can be done with a backend whose name was found.
trait WithBackend {
    type Output;

    fn with<B: ProgramBackend + ProgramDevices>(self) -> Self::Output;
}

/// Finds the backend of a name.
fn with_backend<W: WithBackend>(backend: &str, task: W) -> Result<W::Output, Failure> {
    match split(backend).0 {
        #[cfg(feature = "flex")]
        "flex" => Ok(task.with::<burn::backend::Flex>()),
        #[cfg(feature = "tch")]
        "tch" => Ok(task.with::<burn::backend::LibTorch>()),
        #[cfg(feature = "wgpu")]
        "wgpu" => Ok(task.with::<burn::backend::Wgpu>()),
        #[cfg(feature = "vulkan")]
        "vulkan" => Ok(task.with::<burn::backend::Vulkan>()),
        #[cfg(feature = "cuda")]
        "cuda" => Ok(task.with::<burn::backend::Cuda>()),
        name => Err(unknown(name)),
    }
}

struct On<'a, T> {
    backend: &'a str,
    task: T,
}

impl<T: OnBackend> WithBackend for On<'_, T> {
    type Output = Result<T::Output, Failure>;

    fn with<B: ProgramBackend + ProgramDevices>(self) -> Self::Output {
        self.task.run::<Autodiff<B>>(usable::<B>(self.backend)?)
    }
}

struct Check<'a> {
    backend: &'a str,
}

impl WithBackend for Check<'_> {
    type Output = Result<(), Failure>;

    fn with<B: ProgramBackend + ProgramDevices>(self) -> Self::Output {
        device::<B>(self.backend).map(|_| ())
    }
}

struct CheckUsable<'a> {
    backend: &'a str,
}

impl WithBackend for CheckUsable<'_> {
    type Output = Result<(), Failure>;

    fn with<B: ProgramBackend + ProgramDevices>(self) -> Self::Output {
        usable::<B>(self.backend).map(|_| ())
    }
}

/// The device that a backend's name names, or its default, if it can be used.
fn usable<B: ProgramDevices>(backend: &str) -> Result<B::Device, Failure> {
    let device = device::<B>(backend)?;
    if B::may_be_missing(&device) {
        probe::check(backend)?;
    }
    Ok(device)
}

/// The device that a backend's name names, or its default.
fn device<B: ProgramDevices>(backend: &str) -> Result<B::Device, Failure> {
    let (name, device) = split(backend);
    let Some(device) = device else {
        return Ok(B::Device::default());
    };
    B::named(device).ok_or_else(|| {
        Failure::input(anyhow::anyhow!(
            "backend: found the device \"{device}\" of {name}, expected {}",
            B::DEVICES
        ))
    })
}

/// NAME and DEVICE of NAME:DEVICE.
fn split(backend: &str) -> (&str, Option<&str>) {
    match backend.split_once(':') {
        Some((name, device)) => (name, Some(device)),
        None => (backend, None),
    }
}

/// The failure of a name that is none of [`BACKENDS`].
fn unknown(name: &str) -> Failure {
    let how = match known().iter().find(|known| known.name == name) {
        Some(known) => format!(" ({name} needs a build with `--features {}`)", known.name),
        None => String::new(),
    };
    Failure::input(anyhow::anyhow!(
        "backend: found \"{name}\", expected one of those this binary was built with: {}{how}",
        BACKENDS.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_name_a_device() {
        assert_eq!(split("flex"), ("flex", None));
        assert_eq!(split("tch:cuda:1"), ("tch", Some("cuda:1")));
    }

    #[test]
    fn names_that_are_none_are_told_with_those_that_are() {
        let said = |backend| check(backend).unwrap_err().to_string();
        let start = |name: &str| format!("backend: found \"{name}\", expected one of those this");
        assert!(said("cpu").starts_with(&start("cpu")), "{}", said("cpu"));
        assert!(said(":0").starts_with(&start("")));
        for known in known() {
            if !BACKENDS.contains(&known.name) {
                let how = format!("a build with `--features {}`", known.name);
                assert!(said(known.name).contains(&how));
            }
        }
    }

    #[cfg(feature = "flex")]
    #[test]
    fn a_device_that_cannot_be_is_told_with_those_that_can() {
        assert!(check("flex:cpu").is_ok());
        assert_eq!(
            check("flex:cuda").unwrap_err().to_string(),
            "backend: found the device \"cuda\" of flex, expected cpu"
        );
    }
}
