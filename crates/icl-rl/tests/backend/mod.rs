//! The backend that the tests of this crate run on: `flex`, or the one of a feature `testing-NAME`.

use burn::backend::Autodiff;
#[cfg(feature = "testing-cuda")]
use burn::backend::Cuda as ChosenBackend;
#[cfg(not(any(
    feature = "testing-tch",
    feature = "testing-wgpu",
    feature = "testing-vulkan",
    feature = "testing-cuda"
)))]
use burn::backend::Flex as ChosenBackend;
#[cfg(feature = "testing-tch")]
use burn::backend::LibTorch as ChosenBackend;
#[cfg(feature = "testing-vulkan")]
use burn::backend::Vulkan as ChosenBackend;
#[cfg(feature = "testing-wgpu")]
use burn::backend::Wgpu as ChosenBackend;

/// Backend without gradients.
pub type TestBackend = ChosenBackend;
/// Backend with gradients.
pub type TestAutodiff = Autodiff<ChosenBackend>;
