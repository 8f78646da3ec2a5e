//! Graph convolution (Kipf and Welling, 2017).

use burn::config::Config;
use burn::module::{Module, Param};
use burn::tensor::{Tensor, TensorData};
use icl_core::Seed;
use icl_core::graph::GraphBatch;
use rand::RngExt;

use crate::graph_ops::GraphBackend;

/// Configuration of [`GraphConv`].
#[derive(Config, Debug)]
pub struct GraphConvConfig {
    /// The width of the input.
    pub d_input: usize,
    /// The width of the output.
    pub d_output: usize,
    /// Whether a bias is added.
    #[config(default = true)]
    pub bias: bool,
}

impl GraphConvConfig {
    /// A convolution with weights uniform in ±√(6 / (d_input + d_output)) (Glorot and Bengio, 2010)
    /// and a bias of zeros, drawn from `seed`: the same weights on every backend.
    ///
    /// # Panics
    /// If a width is 0.
    pub fn init<B: GraphBackend>(&self, seed: Seed, device: &B::Device) -> GraphConv<B> {
        let (d_input, d_output) = (self.d_input, self.d_output);
        assert!(
            d_input > 0 && d_output > 0,
            "a graph convolution needs widths above 0, found {d_input} and {d_output}"
        );
        let bound = (6.0 / (d_input + d_output) as f32).sqrt();
        let mut rng = seed.rng();
        let weight: Vec<f32> = (0..d_input * d_output)
            .map(|_| rng.random_range(-bound..bound))
            .collect();
        let weight = Tensor::from_data(TensorData::new(weight, [d_input, d_output]), device);
        let bias = self
            .bias
            .then(|| Param::from_tensor(Tensor::zeros([d_output], device)));
        GraphConv {
            weight: Param::from_tensor(weight),
            bias,
        }
    }
}

/// One graph convolution.
///
/// ```text
/// H′ = Â·H·W + b      Â = D^(−1/2) (A + I) D^(−1/2)
/// ```
#[derive(Module, Debug)]
pub struct GraphConv<B: GraphBackend> {
    /// W `[d_input, d_output]`.
    pub weight: Param<Tensor<B, 2>>,
    /// b `[d_output]`.
    pub bias: Option<Param<Tensor<B, 1>>>,
}

impl<B: GraphBackend> GraphConv<B> {
    /// `[n_nodes, d_input]` → `[n_nodes, d_output]` on the graphs of `batch`.
    ///
    /// # Panics
    /// If the widths do not fit.
    pub fn forward(&self, batch: &GraphBatch<B>, x: Tensor<B, 2>) -> Tensor<B, 2> {
        let weight = self.weight.val();
        let [d_input, _] = weight.dims();
        assert_eq!(
            x.dims()[1],
            d_input,
            "the width of the node features must be that of the weight"
        );
        let out = B::graph_convolution(&batch.propagation, x, weight);
        match &self.bias {
            Some(bias) => out + bias.val().unsqueeze(),
            None => out,
        }
    }
}
