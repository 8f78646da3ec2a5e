//! Which backends this binary holds, and how a generic computation is run on one of them.

use burn::tensor::backend::AutodiffBackend;
use icl::models::GraphBackend;

use crate::failure::Failure;

/// The backends of this binary, the default first.
pub const BACKENDS: &[&str] = &[
    #[cfg(feature = "flex")]
    "flex",
];

/// A computation that is generic over the backend.
pub trait OnBackend {
    /// What it gives.
    type Output;

    /// The computation on `B`, whose gradients are there for those who want them.
    fn run<B>(self, device: B::Device) -> Result<Self::Output, Failure>
    where
        B: AutodiffBackend + GraphBackend,
        B::InnerBackend: GraphBackend;
}

/// Runs a computation on the backend of this name.
///
/// # Errors
/// If this binary does not hold it, or the computation fails.
pub fn on_backend<T: OnBackend>(name: &str, task: T) -> Result<T::Output, Failure> {
    match name {
        #[cfg(feature = "flex")]
        "flex" => task.run::<burn::backend::Autodiff<burn::backend::Flex>>(Default::default()),
        _ => Err(Failure::input(anyhow::anyhow!(
            "--backend: found \"{name}\", expected one of those this binary was built with: {}",
            BACKENDS.join(", ")
        ))),
    }
}
