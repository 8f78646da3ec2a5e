//! A table of embeddings, of which bags are averaged.

use burn::module::{Module, Param};
use burn::tensor::{Tensor, TensorData};
use icl_core::Seed;
use icl_core::graph::SparseMatrix;
use rand_distr::{Distribution, Normal};

use crate::graph_ops::GraphBackend;

/// A rejected [`TwoTowerConfig`](crate::TwoTowerConfig) or [`WordTowerConfig`](crate::WordTowerConfig).
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TowerError {
    /// A width or a number of embeddings is 0.
    #[error("{field}: found 0, expected at least 1")]
    Empty {
        /// The field.
        field: &'static str,
    },
}

/// Checks that no field is 0.
pub(crate) fn check_fields(fields: &[(&'static str, usize)]) -> Result<(), TowerError> {
    match fields.iter().find(|(_, value)| *value == 0) {
        Some(&(field, _)) => Err(TowerError::Empty { field }),
        None => Ok(()),
    }
}

/// A table of n embeddings `[n, d]`, of which means over bags are one sparse product.
///
/// Burn's own embedding layer cannot be differentiated twice, which meta-gradients need; the sparse product can, and its
/// backward pass is a sparse product, too.
#[derive(Module, Debug)]
pub(crate) struct EmbeddingTable<B: GraphBackend> {
    weight: Param<Tensor<B, 2>>,
}

impl<B: GraphBackend> EmbeddingTable<B> {
    /// Creates a table with embeddings drawn from `seed`: each element is normal with variance 1/d, so that an embedding
    /// has length 1 on average. PyTorch's default is variance 1, from which Adam takes d times as many steps to turn an
    /// embedding of which only the direction counts.
    pub(crate) fn new([n, d]: [usize; 2], seed: Seed, device: &B::Device) -> Self {
        let normal = Normal::new(0.0, (d as f32).sqrt().recip()).expect("a finite deviation");
        let mut rng = seed.rng();
        let values: Vec<f32> = (0..n * d).map(|_| normal.sample(&mut rng)).collect();
        let data = TensorData::new(values, [n, d]);
        Self {
            weight: Param::from_tensor(Tensor::from_data(data, device)),
        }
    }

    /// Returns all embeddings `[n, d]`.
    pub(crate) fn all(&self) -> Tensor<B, 2> {
        self.weight.val()
    }

    /// Averages embeddings `[n_bags, d]` by a matrix `[n_bags, n]`. The row of an empty bag is 0.
    ///
    /// # Panics
    /// If the matrix does not have n columns.
    pub(crate) fn means(&self, bags: &SparseMatrix<B>) -> Tensor<B, 2> {
        B::sparse_product(bags, self.weight.val())
    }
}

/// Name and shape of the tensor of an [`EmbeddingTable`] at the path `name`.
pub(crate) fn table_tensor(name: &str, shape: [usize; 2]) -> (String, Vec<usize>) {
    (format!("{name}.weight"), shape.to_vec())
}
