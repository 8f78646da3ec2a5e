//! From the name of a backend to its type.

use burn::tensor::backend::Backend;

use crate::backend::devices::ProgramDevices;
use crate::backend::known::known;
use crate::process::failure::Failure;

/// Names of the backends of this program, the default first.
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

/// Computation that is generic over the backend, for [`with_backend`].
pub trait WithBackend {
    /// Result of the computation.
    type Output;

    /// Computes on the backend `B`.
    fn with<B: Backend + ProgramDevices>(self) -> Self::Output;
}

/// Runs `task` on the backend that `backend` names, as NAME or NAME:DEVICE.
///
/// # Errors
/// If this program does not have it.
pub fn with_backend<W: WithBackend>(backend: &str, task: W) -> Result<W::Output, Failure> {
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

/// Returns each NAME[:DEVICE] of NAME[:DEVICE],NAME[:DEVICE],…
pub fn devices_of(backends: &str) -> impl Iterator<Item = &str> + Clone {
    backends.split(',')
}

/// Checks that this program has the backend, and that the backend has devices of these names, separated by commas.
///
/// # Errors
/// If it does not, or the names are of several backends.
pub fn check_all(backends: &str) -> Result<(), Failure> {
    let mut names = devices_of(backends).map(|backend| split(backend).0);
    let first = names.next();
    if let Some(other) = names.find(|name| Some(*name) != first) {
        return Err(Failure::input(anyhow::anyhow!(
            "backend: found \"{other}\" together with \"{}\", expected devices of one backend",
            first.unwrap_or_default()
        )));
    }
    devices_of(backends).try_for_each(check)
}

/// Checks that this program has the backend, and that the backend has devices of that name.
///
/// # Errors
/// If it does not.
pub fn check(backend: &str) -> Result<(), Failure> {
    with_backend(backend, Check { backend })?
}

struct Check<'a> {
    backend: &'a str,
}

impl WithBackend for Check<'_> {
    type Output = Result<(), Failure>;

    fn with<B: Backend + ProgramDevices>(self) -> Self::Output {
        device::<B>(self.backend).map(drop)
    }
}

/// Returns the device that `backend` names, or the default one.
///
/// # Errors
/// If the backend has no device of that name.
pub fn device<B: ProgramDevices>(backend: &str) -> Result<B::Device, Failure> {
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

/// Returns NAME and DEVICE of NAME:DEVICE.
pub fn split(backend: &str) -> (&str, Option<&str>) {
    match backend.split_once(':') {
        Some((name, device)) => (name, Some(device)),
        None => (backend, None),
    }
}

/// Returns the failure of a name that is not in [`BACKENDS`].
fn unknown(name: &str) -> Failure {
    let how = match known().iter().find(|known| known.name == name) {
        Some(known) => format!(" ({name} needs a build with `--features {}`)", known.name),
        None => String::new(),
    };
    Failure::input(anyhow::anyhow!(
        "backend: found \"{name}\", expected one of those this program was built with: {}{how}",
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
    fn an_unknown_name_is_an_error_with_the_known_ones() {
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
    fn several_devices_are_of_one_backend() {
        assert!(check_all("flex,flex:cpu").is_ok());
        let said = |backends| check_all(backends).unwrap_err().to_string();
        assert_eq!(
            said("flex,cuda:1"),
            "backend: found \"cuda\" together with \"flex\", expected devices of one backend"
        );
        assert!(said("flex,flex:1").starts_with("backend: found the device \"1\" of flex"));
    }

    #[cfg(feature = "flex")]
    #[test]
    fn an_unknown_device_is_an_error_with_the_known_ones() {
        assert!(check("flex:cpu").is_ok());
        assert_eq!(
            check("flex:cuda").unwrap_err().to_string(),
            "backend: found the device \"cuda\" of flex, expected cpu"
        );
    }
}
