//! Which backends this binary holds, and how a generic computation is run on one of them.

use burn::backend::Autodiff;
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{ElementConversion, Tensor};
use icl::models::{GraphBackend, ImageBackend};

use crate::failure::Failure;

/// The backends of this binary, the default first.
pub const BACKENDS: &[&str] = &[
    #[cfg(feature = "flex")]
    "flex",
    #[cfg(feature = "tch")]
    "tch",
    #[cfg(feature = "wgpu")]
    "wgpu",
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

/// Runs a computation on the backend of this name.
///
/// # Errors
/// If this binary does not hold it, it finds no device, or the computation fails.
pub fn on_backend<T: OnBackend>(name: &str, task: T) -> Result<T::Output, Failure> {
    match name {
        #[cfg(feature = "flex")]
        "flex" => on::<burn::backend::Flex, T>(name, task),
        #[cfg(feature = "tch")]
        "tch" => on::<burn::backend::LibTorch, T>(name, task),
        #[cfg(feature = "wgpu")]
        "wgpu" => on::<burn::backend::Wgpu, T>(name, task),
        #[cfg(feature = "cuda")]
        "cuda" => on::<burn::backend::Cuda, T>(name, task),
        _ => Err(unknown(name)),
    }
}

/// The failure of a name that is none of [`BACKENDS`].
pub fn unknown(name: &str) -> Failure {
    Failure::input(anyhow::anyhow!(
        "backend: found \"{name}\", expected one of those this binary was built with: {}",
        BACKENDS.join(", ")
    ))
}

fn on<B, T>(name: &str, task: T) -> Result<T::Output, Failure>
where
    B: ProgramBackend,
    T: OnBackend,
{
    let device = probe::<B>(name)?;
    task.run::<Autodiff<B>>(device)
}

/// The default device, if one number can be computed on it. A backend without a driver panics when
/// it is first used; that becomes an error.
fn probe<B: Backend>(name: &str) -> Result<B::Device, Failure> {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let probed = std::panic::catch_unwind(|| {
        let device = B::Device::default();
        let sum = Tensor::<B, 1>::ones([2], &device).sum().into_scalar();
        (device, sum.elem::<f32>())
    });
    std::panic::set_hook(hook);
    match probed {
        Ok((device, 2.0)) => Ok(device),
        _ => Err(Failure::input(anyhow::anyhow!(
            "backend: found no usable device for {name}, expected its driver and libraries to \
             be installed"
        ))),
    }
}
