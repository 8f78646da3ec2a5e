//! CubeCL's backends, which compute images by Burn's operators: what they have here are the gradients, by autodiff
//! around them.

use burn::tensor::DType;
use burn_cubecl::{BoolElement, CubeBackend, CubeRuntime, FloatElement, IntElement};

use super::kernels::{Image, Kernels};
use crate::backends::HasKernels;

impl<R, F, I, BT> HasKernels<Image> for CubeBackend<R, F, I, BT>
where
    R: CubeRuntime,
    F: FloatElement,
    I: IntElement,
    BT: BoolElement,
{
    fn kernels(_: DType) -> &'static Kernels<Self> {
        const { &Kernels::NONE }
    }
}
