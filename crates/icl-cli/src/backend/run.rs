//! A generic computation on the backend of a name.

use burn::backend::Autodiff;
use burn::tensor::backend::{AutodiffBackend, Backend};

use crate::backend::devices::ProgramDevices;
use crate::backend::dispatch::{WithBackend, device, devices_of, with_backend};
use crate::backend::probe;
use crate::process::failure::Failure;
use crate::process::group::{group, place_on_machine};

/// Computation that is generic over the backend.
pub trait OnBackend {
    /// Its result.
    type Output;

    /// Computes on `B`, which has gradients.
    fn run<B: AutodiffBackend>(self, device: B::Device) -> Result<Self::Output, Failure>;
}

/// Runs a computation on the backend and device of this name, as NAME or NAME:DEVICE. Of several, separated by commas, members of
/// a group take one each, in the order of their places on their machine, which are their ranks where nobody has told them, and again
/// from the first where there are more members.
///
/// # Errors
/// If this program does not have the backend, the device cannot be used, or the computation fails.
pub fn on_backend<T: OnBackend>(backends: &str, task: T) -> Result<T::Output, Failure> {
    let mut devices = devices_of(backends).cycle();
    let place = place_on_machine().unwrap_or_else(|| group().rank());
    let backend = devices.nth(place).unwrap_or(backends);
    with_backend(backend, On { backend, task })?
}

/// Checks that the backend's device can be used.
///
/// # Errors
/// If it cannot, or this program does not have the backend.
pub fn check_usable(backend: &str) -> Result<(), Failure> {
    with_backend(backend, CheckUsable { backend })?
}

struct On<'a, T> {
    backend: &'a str,
    task: T,
}

impl<T: OnBackend> WithBackend for On<'_, T> {
    type Output = Result<T::Output, Failure>;

    fn with<B: Backend + ProgramDevices>(self) -> Self::Output {
        self.task.run::<Autodiff<B>>(usable::<B>(self.backend)?)
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
