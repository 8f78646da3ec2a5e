//! Types of batch normalisation: the values that its backward pass needs, and the gradients that it returns.

use burn::tensor::{Tensor, backend::Backend};

/// Values that the backward pass of batch normalisation needs.
#[derive(Debug, Clone)]
pub struct BatchNormSaved<B: Backend> {
    /// Input `[n, h, w, c]`.
    pub input: Tensor<B, 4>,
    /// Mean of each channel `[c]`.
    pub mean: Tensor<B, 1>,
    /// 1/√(var + ε) of each channel `[c]`.
    pub scale: Tensor<B, 1>,
    /// Affine factor γ `[c]`.
    pub weight: Tensor<B, 1>,
    /// Output `[n, h, w, c]` if ReLU was applied: the gradient is 0 where the output is.
    pub rectified: Option<Tensor<B, 4>>,
    /// Whether a residual was added.
    pub has_residual: bool,
    /// Constant ε added to the variance.
    pub epsilon: f64,
}

/// Gradients of batch normalisation.
#[derive(Debug, Clone)]
pub struct BatchNormGradients<B: Backend> {
    /// Gradient by the input `[n, h, w, c]`.
    pub input: Tensor<B, 4>,
    /// Gradient by γ `[c]`.
    pub weight: Tensor<B, 1>,
    /// Gradient by β `[c]`.
    pub bias: Tensor<B, 1>,
    /// Gradient by the residual `[n, h, w, c]`, if one was added.
    pub residual: Option<Tensor<B, 4>>,
}
