//! The projection head g(·) of SimCLR (Chen et al., 2020).

use burn::module::Module;
use burn::tensor::activation::relu;
use burn::tensor::{Tensor, backend::Backend};
use icl_core::Seed;

use super::linear::Linear;

/// g(h) = W₂·relu(W₁·h), with biases.
///
/// The contrastive loss sees g(h), but h is what is used afterwards: the loss asks for what does
/// not change between views, and a head of its own lets h keep what it throws away (colour,
/// orientation).
#[derive(Module, Debug)]
pub(crate) struct ProjectionHead<B: Backend> {
    hidden: Linear<B>,
    output: Linear<B>,
}

impl<B: Backend> ProjectionHead<B> {
    /// A hidden layer as wide as the input.
    pub(crate) fn new([d_input, d_output]: [usize; 2], seed: Seed, device: &B::Device) -> Self {
        Self {
            hidden: Linear::new([d_input, d_input], seed.child("hidden"), device),
            output: Linear::new([d_input, d_output], seed.child("output"), device),
        }
    }

    /// `[n, d_input]` → `[n, d_output]`.
    pub(crate) fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        self.output.forward(relu(self.hidden.forward(x)))
    }
}
