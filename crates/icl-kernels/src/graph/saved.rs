//! Types of normalisation with activation: its constants, and the values that its backward pass needs.

use burn::tensor::{Tensor, backend::Backend};

use crate::dropout::DropoutMask;

/// Batch normalisation, leaky ReLU and dropout, which follow each convolution in training.
///
/// ```text
/// x̂ = (x − mean(x)) / √(var(x) + ε)      mean and biased variance of each column over the batch
/// y = m ⊙ (x̂ if x̂ > 0, slope·x̂ otherwise)
/// ```
///
/// with a dropout mask m of 0 and 1/(1 − p), or none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormActivation {
    /// Constant ε added to the variance.
    pub epsilon: f64,
    /// Slope of the leaky ReLU below 0.
    pub negative_slope: f64,
}

/// Values that the backward pass of [`NormActivation`] needs.
#[derive(Debug, Clone)]
pub struct NormActivationSaved<B: Backend> {
    /// Input x `[n, c]`.
    pub input: Tensor<B, 2>,
    /// Mean of each column `[1, c]`.
    pub mean: Tensor<B, 2>,
    /// 1/√(var + ε) of each column `[1, c]`.
    pub scale: Tensor<B, 2>,
    /// Dropout mask, row after row.
    pub mask: Option<DropoutMask>,
}
