//! Graph convolution (Kipf and Welling, 2017).

use burn::config::Config;
use burn::module::{Module, Param};
use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl_core::Seed;
use icl_core::graph::GraphBatch;
use icl_kernels::graph;
use rand::RngExt;

/// Configuration of [`GraphConv`].
#[derive(Config, Debug)]
pub struct GraphConvConfig {
    /// Width of the input.
    pub d_input: usize,
    /// Width of the output.
    pub d_output: usize,
    /// Whether a bias is added.
    #[config(default = true)]
    pub bias: bool,
}

impl GraphConvConfig {
    /// Creates a convolution with weights drawn from `seed`, the same on every backend.
    ///
    /// Weights are uniform in ±√(6 / (d_input + d_output)) (Glorot and Bengio, 2010); the bias is 0.
    ///
    /// # Panics
    /// If a width is 0.
    pub fn init<B: Backend>(&self, seed: Seed, device: &B::Device) -> GraphConv<B> {
        let (d_input, d_output) = (self.d_input, self.d_output);
        assert!(
            d_input > 0 && d_output > 0,
            "widths of a graph convolution: found {d_input} and {d_output}, expected at least 1 each"
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

/// A graph convolution.
///
/// ```text
/// H′ = Â·H·W + b      Â = D^(−1/2) (A + I) D^(−1/2)
/// ```
///
/// with the adjacency matrix A and the diagonal matrix D of the degrees in A + I (Kipf and Welling,
/// 2017, Eq. 2, without the activation).
#[derive(Module, Debug)]
pub struct GraphConv<B: Backend> {
    /// Weight W `[d_input, d_output]`.
    pub weight: Param<Tensor<B, 2>>,
    /// Bias b `[d_output]`, if there is one.
    pub bias: Option<Param<Tensor<B, 1>>>,
}

impl<B: Backend> GraphConv<B> {
    /// Applies the convolution to node features `x` `[n_nodes, d_input]` on the graphs of `batch`:
    /// `[n_nodes, d_output]`.
    ///
    /// # Panics
    /// If the width of `x` is not `d_input`, or its number of rows not that of the nodes.
    pub fn forward(&self, batch: &GraphBatch<B>, x: Tensor<B, 2>) -> Tensor<B, 2> {
        let weight = self.weight.val();
        let [d_input, _] = weight.dims();
        assert_eq!(
            x.dims()[1],
            d_input,
            "widths of the node features and of the weight differ"
        );
        let out = graph::graph_convolution(&batch.propagation, x, weight);
        match &self.bias {
            Some(bias) => out + bias.val().unsqueeze(),
            None => out,
        }
    }
}
