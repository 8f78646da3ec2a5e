//! The layer of the graph isomorphism network, and the matrix of its sums.

use burn::module::Module;
use burn::tensor::activation::relu;
use burn::tensor::{Tensor, backend::Backend};
use icl_core::graph::{Csr, SparseMatrix};
use icl_kernels::graph;

use crate::linear::Linear;
use crate::normalization::{BatchNorm, Statistics};

/// A layer: a perceptron of one hidden layer on sums over neighbourhoods, ReLU and normalisation.
#[derive(Module, Debug)]
pub(crate) struct GinLayer<B: Backend> {
    pub(crate) first: Linear<B>,
    pub(crate) second: Linear<B>,
    pub(crate) norm: BatchNorm<B>,
}

impl<B: Backend> GinLayer<B> {
    /// Maps `x` `[n_nodes, d_input]` to `[n_nodes, d_hidden]`, given A + (1 + ε)·I.
    pub(crate) fn forward(
        &self,
        neighbourhood: &SparseMatrix<B>,
        x: Tensor<B, 2>,
        statistics: &mut Statistics<'_>,
    ) -> Tensor<B, 2> {
        let sums = graph::graph_convolution(neighbourhood, x, self.first.weight.val());
        let hidden = relu(sums + self.first.bias.val().unsqueeze());
        let y = relu(self.second.forward(hidden));
        self.norm.forward_rows(y, false, statistics)
    }
}

/// Makes A + (1 + ε)·I, a product with which sums over each node's neighbourhood.
///
/// The entries of Â are those of A + I, so their values alone are replaced, without rounding.
pub(crate) fn neighbourhood<B: Backend>(
    propagation: &SparseMatrix<B>,
    epsilon: f64,
) -> SparseMatrix<B> {
    let entries = &propagation.forward;
    let mut values = entries.values.ones_like();
    if epsilon != 0.0 {
        let is_self = entries.rows.clone().equal(entries.columns.clone());
        values = values.mask_fill(is_self, 1.0 + epsilon);
    }
    let forward = Csr {
        values,
        ..entries.clone()
    };
    // A graph batch is undirected, so the matrix is symmetric.
    SparseMatrix {
        transposed: forward.clone(),
        forward,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icl_core::graph::{GraphBatch, HostGraphs};
    use icl_core::testing::{TestBackend, assert_close, to_vec};

    /// A path of three nodes, and a single node.
    fn batch() -> GraphBatch<TestBackend> {
        let graphs = HostGraphs {
            offsets: vec![0, 3, 4],
            pointers: vec![0, 1, 3, 4, 4],
            neighbours: vec![1, 0, 2, 1],
            features: vec![0.5, 1.0, 1.5, 2.0],
            d_features: 1,
        };
        GraphBatch::new(graphs, &Default::default())
    }

    #[test]
    fn the_product_sums_a_node_and_its_neighbours() {
        let batch = batch();
        let sums = |epsilon| {
            let matrix = neighbourhood(&batch.propagation, epsilon);
            to_vec(&graph::sparse_product(&matrix, batch.features.clone()))
        };
        assert_eq!(sums(0.0), [1.5, 3.0, 2.5, 2.0]);
        assert_eq!(sums(0.5), [1.75, 3.5, 3.25, 3.0]);
    }

    #[test]
    fn it_is_the_scaled_product_with_the_normalised_matrix() {
        // (A + I)·x = √d ∘ Â·(√d ∘ x), with the degrees d of A + I.
        let batch = batch();
        let roots = [2.0_f32, 3.0, 2.0, 1.0].map(|degree| [degree.sqrt()]);
        let roots = Tensor::<TestBackend, 2>::from_data(roots, &Default::default());
        let scaled = batch.features.clone() * roots.clone();
        let expected = graph::sparse_product(&batch.propagation, scaled) * roots;
        let matrix = neighbourhood(&batch.propagation, 0.0);
        let found = graph::sparse_product(&matrix, batch.features);
        assert_close(&to_vec(&found), &to_vec(&expected), 1e-6);
    }
}
