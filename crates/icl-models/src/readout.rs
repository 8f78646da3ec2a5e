//! Readout: the vectors of a graph's nodes become one vector.

use burn::tensor::{Int, Tensor, TensorData, backend::Backend};
use icl_core::graph::GraphBatch;
use icl_kernels::graph;
use serde::{Deserialize, Serialize};

/// Reduction of the vectors of a graph's nodes to one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Readout {
    /// Sum over nodes.
    #[default]
    Sum,
    /// Mean over nodes.
    Mean,
    /// Maximum over nodes, column by column.
    Max,
}

impl Readout {
    /// Reduces node vectors `x` `[n_nodes, d]` to graph vectors `[n_graphs, d]`.
    ///
    /// Every graph must have a node: the mean and the maximum over none are undefined.
    ///
    /// # Panics
    /// For a sum or a mean, if `x` has not one row per node of `batch`.
    pub fn forward<B: Backend>(self, batch: &GraphBatch<B>, x: Tensor<B, 2>) -> Tensor<B, 2> {
        match self {
            Self::Sum => graph::sparse_product(&batch.membership, x),
            Self::Mean => {
                let weights: Vec<f32> = batch
                    .offsets
                    .windows(2)
                    .map(|bounds| 1.0 / (bounds[1] - bounds[0]) as f32)
                    .collect();
                let weights = TensorData::new(weights, [batch.n_graphs(), 1]);
                let weights = Tensor::from_data(weights, (&x.device(), x.dtype()));
                graph::sparse_product(&batch.membership, x) * weights
            }
            Self::Max => maximum(batch, x),
        }
    }
}

/// Maximum over the nodes of each graph. Graphs are padded to one length by repeating their last
/// node, which does not change a maximum.
fn maximum<B: Backend>(batch: &GraphBatch<B>, x: Tensor<B, 2>) -> Tensor<B, 2> {
    let [_, width] = x.dims();
    let sizes = batch.offsets.windows(2).map(|bounds| bounds[1] - bounds[0]);
    let longest = sizes.max().unwrap_or(0);
    let nodes: Vec<i32> = batch
        .offsets
        .windows(2)
        .flat_map(|bounds| {
            (0..longest).map(move |node| (bounds[0] + node).min(bounds[1] - 1) as i32)
        })
        .collect();
    let n_nodes = nodes.len();
    let nodes = Tensor::<B, 1, Int>::from_data(TensorData::new(nodes, [n_nodes]), &x.device());
    x.select(0, nodes)
        .reshape([batch.n_graphs(), longest as usize, width])
        .max_dim(1)
        .squeeze_dim(1)
}
