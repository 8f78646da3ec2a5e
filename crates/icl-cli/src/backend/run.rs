//! A generic computation on the backend of a name.

use burn::backend::Autodiff;
use burn::tensor::backend::{AutodiffBackend, Backend};

use crate::backend::devices::ProgramDevices;
use crate::backend::named::{WithBackend, device, devices_of, with_backend};
use crate::backend::probe;
use crate::process::failure::Failure;
use crate::process::group::{group, place_on_machine};

/// Computation that is generic over the backend.
pub trait OnBackend {
    /// Its result.
    type Output;

    /// Computes on `B`, which has gradients. There is at least one device: trainings use all of them, everything else
    /// the first.
    fn run<B: AutodiffBackend>(self, devices: &[B::Device]) -> Result<Self::Output, Failure>;
}

/// Runs a computation on the backend and device of this name, as NAME or NAME:DEVICE, or on several, separated by
/// commas. Each process of a group takes one of these, in the order of their places on their machine: those that the
/// launcher has set, or else their ranks. Where there are more processes than devices, it starts again with the first.
///
/// # Errors
/// If this program does not have the backend, the device cannot be used, or the computation fails.
pub fn on_backend<T: OnBackend>(backends: &str, task: T) -> Result<T::Output, Failure> {
    let mut devices: Vec<&str> = devices_of(backends).collect();
    let group = group();
    if !group.is_alone() {
        let place = place_on_machine().unwrap_or_else(|| group.rank());
        devices = vec![devices[place % devices.len()]];
    }
    with_backend(devices[0], On { devices, task })?
}

/// Checks that the backend's device can be used.
///
/// # Errors
/// If it cannot, or this program does not have the backend.
pub fn check_usable(backend: &str) -> Result<(), Failure> {
    with_backend(backend, CheckUsable { backend })?
}

struct On<'a, T> {
    devices: Vec<&'a str>,
    task: T,
}

impl<T: OnBackend> WithBackend for On<'_, T> {
    type Output = Result<T::Output, Failure>;

    fn with<B: Backend + ProgramDevices>(self) -> Self::Output {
        let devices = self.devices.into_iter().map(usable::<B>);
        let devices = devices.collect::<Result<Vec<_>, _>>()?;
        self.task.run::<Autodiff<B>>(&devices)
    }
}

struct CheckUsable<'a> {
    backend: &'a str,
}

impl WithBackend for CheckUsable<'_> {
    type Output = Result<(), Failure>;

    fn with<B: Backend + ProgramDevices>(self) -> Self::Output {
        usable::<B>(self.backend).map(drop)
    }
}

/// Returns the device that `backend` names, or the default one, if it can be used.
fn usable<B: ProgramDevices>(backend: &str) -> Result<B::Device, Failure> {
    let device = device::<B>(backend)?;
    if B::may_be_missing(&device) {
        probe::check(backend)?;
    }
    Ok(device)
}
