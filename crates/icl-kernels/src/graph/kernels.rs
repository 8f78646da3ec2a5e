//! The kernels that a backend has for operators on graphs.

#[cfg(feature = "kernels")]
use std::any::{Any, TypeId};

use burn::tensor::{DType, Tensor, backend::Backend};

use super::saved::{NormActivation, NormActivationSaved};
use super::sparse_matrix::SparseMatrix;
#[cfg(feature = "kernels")]
use crate::backends::{Operators, kernels_of};
use crate::dropout::DropoutMask;

type Rows<B> = Tensor<B, 2>;
type Gradients<B> = [Option<Rows<B>>; 2];

/// The kernels of a backend. An operator without one is composed of other operators: see the function of the same name
/// for these and for the arguments.
#[allow(clippy::type_complexity, reason = "a field is the type of an operator")]
pub(super) struct Kernels<B: Backend> {
    pub(super) sparse_product: Option<fn(&SparseMatrix<B>, Rows<B>) -> Rows<B>>,
    pub(super) graph_convolution: Option<fn(&SparseMatrix<B>, Rows<B>, Rows<B>) -> Rows<B>>,
    pub(super) graph_convolution_backward:
        Option<fn(&SparseMatrix<B>, Rows<B>, Rows<B>, Rows<B>, [bool; 2]) -> Gradients<B>>,
    pub(super) norm_activation: Option<
        fn(NormActivation, Rows<B>, Option<DropoutMask>) -> (Rows<B>, NormActivationSaved<B>),
    >,
    pub(super) norm_activation_backward:
        Option<fn(NormActivation, NormActivationSaved<B>, Rows<B>) -> Rows<B>>,
}

impl<B: Backend> Kernels<B> {
    /// No kernel.
    pub(super) const NONE: Self = Self {
        sparse_product: None,
        graph_convolution: None,
        graph_convolution_backward: None,
        norm_activation: None,
        norm_activation_backward: None,
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
    kernels_of!(Graph, backend, dtype)
}

/// The operators on graphs, as a kind.
#[cfg(feature = "kernels")]
pub(super) struct Graph;

#[cfg(feature = "kernels")]
impl Operators for Graph {
    type Kernels<B: Backend> = Kernels<B>;
}
