//! A batch of graphs as one block-diagonal graph.

use std::sync::Arc;

use burn::tensor::{Tensor, TensorData, backend::Backend};

use icl_kernels::graph::{HostCsr, SparseMatrix};

/// Several undirected graphs, node after node, on the host.
///
/// The default value has all fields empty and is to be filled in; it is no valid batch, since even a
/// batch without nodes has one offset and one pointer, 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostGraphs {
    /// First node of each graph, followed by the number of nodes `[n_graphs + 1]`.
    pub offsets: Vec<u32>,
    /// First position of each node in `neighbours`, followed by their number `[n_nodes + 1]`.
    pub pointers: Vec<i32>,
    /// Neighbours of each node, numbered over the whole batch. Each edge is listed in both directions;
    /// a node is not listed as a neighbour of itself.
    pub neighbours: Vec<i32>,
    /// Node features `[n_nodes, d_features]`, row after row.
    pub features: Vec<f32>,
    /// Width of the node features.
    pub d_features: usize,
}

impl HostGraphs {
    /// Returns the number of nodes of all graphs. `pointers` must not be empty.
    pub fn n_nodes(&self) -> usize {
        self.pointers.len() - 1
    }

    /// Returns Â = D^(−1/2) (A + I) D^(−1/2), with D the degrees of A + I (Kipf and Welling, 2017,
    /// Eq. 2).
    fn propagation(&self) -> HostCsr {
        let n_nodes = self.n_nodes();
        // Eq. (2) of Kipf and Welling (2017); + 1 is the self loop.
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

    /// Returns the matrix `[n_graphs, n_nodes]` that is 1 where a node belongs to a graph, else 0.
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
///
/// ```
/// use icl_core::graph::{GraphBatch, HostGraphs};
/// type B = burn::backend::Flex;
///
/// // A path of three nodes and a single node, with one feature each.
/// let graphs = HostGraphs {
///     offsets: vec![0, 3, 4],
///     pointers: vec![0, 1, 3, 4, 4],
///     neighbours: vec![1, 0, 2, 1],
///     features: vec![0.5, 1.0, 1.5, 2.0],
///     d_features: 1,
/// };
/// let batch = GraphBatch::<B>::new(graphs, &Default::default());
/// assert_eq!((batch.n_graphs(), batch.features.dims()), (2, [4, 1]));
/// ```
#[derive(Debug, Clone)]
pub struct GraphBatch<B: Backend> {
    /// Node features `[n_nodes, d_features]`.
    pub features: Tensor<B, 2>,
    /// Symmetrically normalised adjacency matrix with self loops, Â = D^(−1/2) (A + I) D^(−1/2), with D
    /// the degrees of A + I (Kipf and Welling, 2017, Eq. 2) `[n_nodes, n_nodes]`.
    pub propagation: SparseMatrix<B>,
    /// Matrix that is 1 where a node belongs to a graph, else 0 `[n_graphs, n_nodes]`. A product with
    /// it sums the nodes of each graph.
    pub membership: SparseMatrix<B>,
    /// First node of each graph, followed by the number of nodes `[n_graphs + 1]`.
    pub offsets: Arc<[u32]>,
}

impl<B: Backend> GraphBatch<B> {
    /// Uploads a batch to a device.
    ///
    /// The caller guarantees that each edge is listed in both directions, which is not checked: with
    /// other neighbours the backward pass is wrong.
    ///
    /// # Panics
    /// If the offsets do not rise strictly from 0 to the number of nodes (every graph has a node), if
    /// there are not n_nodes x d_features features, or if a pointer or a neighbour is out of range.
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

    /// Returns the number of graphs.
    pub fn n_graphs(&self) -> usize {
        self.offsets.len() - 1
    }
}
