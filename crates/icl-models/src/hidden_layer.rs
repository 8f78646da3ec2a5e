//! The layer of multilayer perceptrons and projection heads.

use burn::module::{Module, Param};
use burn::tensor::activation::relu;
use burn::tensor::{Tensor, backend::Backend};
use icl_core::Seed;
use icl_kernels::image;

use crate::linear::{Linear, linear_tensors};
use crate::normalization::{BatchNorm, Statistics, norm_tensors};

/// The layer relu(x·W + b), or relu(norm(x·W)) with batch normalisation.
///
/// A normalised layer has no bias b: the normalisation would subtract it, and its own β takes its
/// place.
#[derive(Module, Debug)]
pub(crate) struct HiddenLayer<B: Backend> {
    weight: Param<Tensor<B, 2>>,
    bias: Option<Param<Tensor<B, 1>>>,
    norm: Option<BatchNorm<B>>,
}

impl<B: Backend> HiddenLayer<B> {
    /// Creates a layer with the weights of [`Linear::new`], normalised with ε if `epsilon` is given.
    pub(crate) fn new(
        widths: [usize; 2],
        epsilon: Option<f64>,
        seed: Seed,
        device: &B::Device,
    ) -> Self {
        let Linear { weight, bias } = Linear::new(widths, seed, device);
        Self {
            weight,
            bias: epsilon.is_none().then_some(bias),
            norm: epsilon.map(|epsilon| BatchNorm::new(widths[1], epsilon, device)),
        }
    }

    /// Maps `[n, d_input]` to `[n, d_output]`.
    pub(crate) fn forward(&self, x: Tensor<B, 2>, statistics: &mut Statistics<'_>) -> Tensor<B, 2> {
        let weight = self.weight.val();
        if let Some(norm) = &self.norm {
            // On flex the kernels of convolutions compute the product and both gradients without a transposition.
            return norm.forward_rows(image::dense_product(x, weight), true, statistics);
        }
        // Burn's product stays here: another would change the last bits of the encoders that have such a head.
        let y = x.matmul(weight);
        relu(match &self.bias {
            Some(bias) => y + bias.val().unsqueeze(),
            None => y,
        })
    }

    /// Returns the width of the input.
    pub(crate) fn d_input(&self) -> usize {
        self.weight.val().dims()[0]
    }

    /// Returns the normalisation, if there is one.
    pub(crate) fn norm_mut(&mut self) -> Option<&mut BatchNorm<B>> {
        self.norm.as_mut()
    }
}

/// Names and shapes of the tensors of a [`HiddenLayer`] at the path `name`.
pub(crate) fn hidden_layer_tensors(
    name: &str,
    widths: [usize; 2],
    norm: bool,
) -> Vec<(String, Vec<usize>)> {
    let [weight, bias] = linear_tensors(name, widths);
    if norm {
        let norm = norm_tensors(&format!("{name}.norm"), widths[1]);
        std::iter::once(weight).chain(norm).collect()
    } else {
        vec![weight, bias]
    }
}
