//! Graph operators that pay for a kernel of their own.
//!
//! Each is a plain function on tensors with a backward pass written by hand. [`GraphBackend`] has a
//! composed default for every backend; a backend with a faster form overrides it.

mod autodiff;
#[cfg(any(feature = "wgpu", feature = "vulkan", feature = "cuda"))]
mod cube;
#[cfg(feature = "flex")]
mod flex;
mod graph_convolution;
#[cfg(feature = "tch")]
mod libtorch;
mod norm_activation;
mod sparse_product;

use burn::tensor::{Tensor, backend::Backend};
use icl_core::graph::SparseMatrix;

use crate::dropout::DropoutMask;

pub use graph_convolution::{composed_graph_convolution, composed_graph_convolution_backward};
pub use norm_activation::{
    NormActivation, NormActivationSaved, composed_norm_activation,
    composed_norm_activation_backward,
};
pub use sparse_product::composed_sparse_product;

/// A backend that graph encoders run on: those of this crate's features, and [`Autodiff`] of each.
/// Another one joins with an empty `impl`, which is the composed form of everything.
///
/// [`Autodiff`]: burn::backend::Autodiff
pub trait GraphBackend: Backend {
    /// A·x for a sparse A `[n, m]` and `x` `[m, c]`: `[n, c]`. The backward pass is Aᵀ·g; A gets no
    /// gradient.
    ///
    /// # Panics
    /// If A has not as many columns as `x` has rows.
    fn sparse_product(matrix: &SparseMatrix<Self>, x: Tensor<Self, 2>) -> Tensor<Self, 2> {
        composed_sparse_product(matrix, x)
    }

    /// A·X·W for a sparse A `[n, m]`, X `[m, d]` and W `[d, c]`: `[n, c]`. A gets no gradient.
    ///
    /// # Panics
    /// If the shapes do not fit.
    fn graph_convolution(
        matrix: &SparseMatrix<Self>,
        x: Tensor<Self, 2>,
        weight: Tensor<Self, 2>,
    ) -> Tensor<Self, 2> {
        composed_graph_convolution(matrix, x, weight)
    }

    /// The gradients of [`graph_convolution`](Self::graph_convolution) by X and by W, those that are
    /// `wanted`, from that by its output `[n, c]`.
    fn graph_convolution_backward(
        matrix: &SparseMatrix<Self>,
        x: Tensor<Self, 2>,
        weight: Tensor<Self, 2>,
        gradient: Tensor<Self, 2>,
        wanted: [bool; 2],
    ) -> [Option<Tensor<Self, 2>>; 2] {
        composed_graph_convolution_backward(matrix, x, weight, gradient, wanted)
    }

    /// [`NormActivation`] on `x` `[n, c]`, with what its backward pass needs.
    fn norm_activation(
        options: NormActivation,
        x: Tensor<Self, 2>,
        mask: Option<DropoutMask>,
    ) -> (Tensor<Self, 2>, NormActivationSaved<Self>) {
        composed_norm_activation(options, x, mask)
    }

    /// The gradient of [`norm_activation`](Self::norm_activation) by its input, from that by its
    /// output, both `[n, c]`.
    fn norm_activation_backward(
        options: NormActivation,
        saved: NormActivationSaved<Self>,
        gradient: Tensor<Self, 2>,
    ) -> Tensor<Self, 2> {
        composed_norm_activation_backward(options, saved, gradient)
    }
}
