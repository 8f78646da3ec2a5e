//! The kernels that a backend has for operators on images.

#[cfg(feature = "kernels")]
use std::any::{Any, TypeId};

use burn::tensor::{DType, Tensor, backend::Backend};

use super::saved::{BatchNormGradients, BatchNormSaved};
use super::window::Window;
#[cfg(feature = "kernels")]
use crate::backends::{Operators, kernels_of};

type Two<B> = Tensor<B, 2>;
type Four<B> = Tensor<B, 4>;
type Channels<B> = Tensor<B, 1>;
type OnImages<B> = fn(Four<B>, Four<B>, Window) -> Four<B>;

/// The kernels of a backend. An operator without one is composed of other operators: see the function of the same name
/// for these and for the arguments.
#[allow(clippy::type_complexity, reason = "a field is the type of an operator")]
pub(super) struct Kernels<B: Backend> {
    pub(super) dense_product: Option<fn(Two<B>, Two<B>) -> Two<B>>,
    pub(super) dense_product_input_gradient: Option<fn(Two<B>, Two<B>) -> Two<B>>,
    pub(super) dense_product_weight_gradient: Option<fn(Two<B>, Two<B>) -> Two<B>>,
    pub(super) convolution: Option<OnImages<B>>,
    pub(super) convolution_input_gradient:
        Option<fn(Four<B>, Four<B>, Window, [usize; 2]) -> Four<B>>,
    pub(super) convolution_weight_gradient: Option<OnImages<B>>,
    pub(super) convolution_gradients: Option<fn(Four<B>, Four<B>, Four<B>, Window) -> [Four<B>; 2]>,
    pub(super) batch_norm_saving: Option<
        fn(Four<B>, [Channels<B>; 2], Option<Four<B>>, f64, bool) -> (Four<B>, BatchNormSaved<B>),
    >,
    pub(super) batch_norm_backward: Option<fn(BatchNormSaved<B>, Four<B>) -> BatchNormGradients<B>>,
    pub(super) scale_shift:
        Option<fn(Four<B>, Channels<B>, Channels<B>, Option<Four<B>>, bool) -> Four<B>>,
    pub(super) max_pool: Option<fn(Four<B>, Window) -> Four<B>>,
    pub(super) select_maxima: Option<OnImages<B>>,
    pub(super) scatter_maxima: Option<OnImages<B>>,
}

impl<B: Backend> Kernels<B> {
    /// No kernel.
    pub(super) const NONE: Self = Self {
        dense_product: None,
        dense_product_input_gradient: None,
        dense_product_weight_gradient: None,
        convolution: None,
        convolution_input_gradient: None,
        convolution_weight_gradient: None,
        convolution_gradients: None,
        batch_norm_saving: None,
        batch_norm_backward: None,
        scale_shift: None,
        max_pool: None,
        select_maxima: None,
        scatter_maxima: None,
    };
}

/// Returns the kernels of the backend `B` for tensors of this type.
pub(super) fn kernels<B: Backend>(dtype: DType) -> &'static Kernels<B> {
    #[cfg(feature = "kernels")]
    if let Some(found) = known_kernels(TypeId::of::<B>(), dtype) {
        return found.downcast_ref().expect("the kernels of this backend");
    }
    let _ = dtype;
    const { &Kernels::NONE }
}

/// Returns the kernels of the backend of this type if it has any. Those of all backends are compiled here,
/// once, and not again for each caller.
#[cfg(feature = "kernels")]
fn known_kernels(backend: TypeId, dtype: DType) -> Option<&'static dyn Any> {
    kernels_of!(Image, backend, dtype)
}

/// The operators on images, as a kind.
#[cfg(feature = "kernels")]
pub(super) struct Image;

#[cfg(feature = "kernels")]
impl Operators for Image {
    type Kernels<B: Backend> = Kernels<B>;
}
