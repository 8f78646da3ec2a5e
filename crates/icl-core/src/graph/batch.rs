//! A batch of graphs as one block-diagonal graph.

use std::sync::Arc;

use burn::tensor::{Tensor, TensorData, backend::Backend};

use super::{HostCsr, SparseMatrix};

/// Several undirected graphs, node after node, on the host. The default is an empty shell to be filled
/// in: even a batch without nodes has one offset and one pointer, 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostGraphs {
    /// Where each graph's nodes begin; one more than there are graphs.
    pub offsets: Vec<u32>,
    /// Where each node's neighbours begin in `neighbours`; one more than there are nodes.
    pub pointers: Vec<i32>,
    /// The neighbours of each node, counted over the whole batch. An edge stands in it in both
    /// directions; a node is not its own neighbour.
    pub neighbours: Vec<i32>,
    /// Node features `[n_nodes, d_features]`, row after row.
    pub features: Vec<f32>,
    /// The width of the features.
    pub d_features: usize,
}

impl HostGraphs {
    /// The number of nodes of all graphs.
    pub fn n_nodes(&self) -> usize {
        self.pointers.len() - 1
    }

    /// Â = D^(−1/2) (A + I) D^(−1/2) with D the degrees of A + I (Kipf and Welling, 2017, Eq. 2).
    fn propagation(&self) -> HostCsr {
        let n_nodes = self.n_nodes();
        let scale: Vec<f32> = self
            .pointers
            .windows(2)
            .map(|row| 1.0 / ((row[1] - row[0] + 1) as f32).sqrt())
            .collect();
        let n_entries = self.neighbours.len() + n_nodes;
        let mut pointers = Vec::with_capacity(n_nodes + 1);
        let mut columns = Vec::with_capacity(n_entries);
        let mut values = Vec::with_capacity(n_entries);
        pointers.push(0);
        for node in 0..n_nodes {
            columns.push(node as i32);
            values.push(scale[node] * scale[node]);
            for &other in
                &self.neighbours[self.pointers[node] as usize..self.pointers[node + 1] as usize]
            {
                columns.push(other);
                values.push(scale[node] * scale[other as usize]);
            }
            pointers.push(columns.len() as i32);
        }
        HostCsr {
            pointers,
            columns,
            values,
            n_columns: n_nodes,
        }
    }

    /// The 0/1 matrix `[n_graphs, n_nodes]` that says which node belongs to which graph.
    fn membership(&self) -> HostCsr {
        let n_nodes = self.n_nodes();
        HostCsr {
            pointers: self.offsets.iter().map(|&offset| offset as i32).collect(),
            columns: (0..n_nodes as i32).collect(),
            values: vec![1.0; n_nodes],
            n_columns: n_nodes,
        }
    }
}

/// A batch of graphs on a device.
#[derive(Debug, Clone)]
pub struct GraphBatch<B: Backend> {
    /// Node features `[n_nodes, d_features]`.
    pub features: Tensor<B, 2>,
    /// Â `[n_nodes, n_nodes]`: the symmetrically normalised adjacency with self loops.
    pub propagation: SparseMatrix<B>,
    /// Which node belongs to which graph, `[n_graphs, n_nodes]`; a product with it sums each
    /// graph's nodes.
    pub membership: SparseMatrix<B>,
    /// Where each graph's nodes begin; one more than there are graphs.
    pub offsets: Arc<[u32]>,
}

impl<B: Backend> GraphBatch<B> {
    /// Uploads a batch.
    ///
    /// # Panics
    /// If the offsets do not rise from 0 to the number of nodes, so that every graph has a node, or
    /// there are not n_nodes x d_features features. The rest is the caller's promise: neighbours
    /// that are nodes of the batch, in both directions.
    pub fn new(graphs: HostGraphs, device: &B::Device) -> Self {
        let (n_nodes, d_features) = (graphs.n_nodes(), graphs.d_features);
        assert!(
            graphs.offsets.first() == Some(&0)
                && graphs.offsets.last() == Some(&(n_nodes as u32))
                && graphs
                    .offsets
                    .windows(2)
                    .all(|bounds| bounds[0] < bounds[1]),
            "the offsets of a graph batch must rise from 0 to its {n_nodes} nodes, found {:?}",
            graphs.offsets
        );
        assert_eq!(
            graphs.features.len(),
            n_nodes * d_features,
            "a graph batch must hold n_nodes x d_features = {n_nodes} x {d_features} features"
        );
        Self {
            propagation: SparseMatrix::symmetric(graphs.propagation(), device),
            membership: SparseMatrix::new(graphs.membership(), device),
            offsets: graphs.offsets.into(),
            features: Tensor::from_data(
                TensorData::new(graphs.features, [n_nodes, d_features]),
                device,
            ),
        }
    }

    /// The number of graphs.
    pub fn n_graphs(&self) -> usize {
        self.offsets.len() - 1
    }
}
