//! From the nodes of a graph to the graph.

use burn::tensor::{Int, Tensor, TensorData};
use icl_core::graph::GraphBatch;
use serde::{Deserialize, Serialize};

use crate::graph_ops::GraphBackend;

/// How the nodes of a graph become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Readout {
    /// The sum over nodes.
    #[default]
    Sum,
    /// The mean over nodes.
    Mean,
    /// The largest value of each column over nodes.
    Max,
}

impl Readout {
    /// `[n_nodes, d]` → `[n_graphs, d]`. Every graph must have a node: a mean or a maximum over none
    /// is nothing.
    pub fn forward<B: GraphBackend>(self, batch: &GraphBatch<B>, x: Tensor<B, 2>) -> Tensor<B, 2> {
        match self {
            Self::Sum => B::sparse_product(&batch.membership, x),
            Self::Mean => {
                let weights: Vec<f32> = batch
                    .offsets
                    .windows(2)
                    .map(|bounds| 1.0 / (bounds[1] - bounds[0]) as f32)
                    .collect();
                let weights = TensorData::new(weights, [batch.n_graphs(), 1]);
                let weights = Tensor::from_data(weights, (&x.device(), x.dtype()));
                B::sparse_product(&batch.membership, x) * weights
            }
            Self::Max => maximum(batch, x),
        }
    }
}

/// Gathers each graph's nodes to one length, repeating the last node, which leaves a maximum as it
/// is.
fn maximum<B: GraphBackend>(batch: &GraphBatch<B>, x: Tensor<B, 2>) -> Tensor<B, 2> {
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
