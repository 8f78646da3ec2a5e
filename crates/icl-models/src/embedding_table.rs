//! A table of embeddings, of which bags are averaged.

use burn::module::{Module, Param};
use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl_core::Seed;
use icl_core::graph::SparseMatrix;
use icl_kernels::graph;
use rand_distr::{Distribution, Normal};

/// A table of n embeddings `[n, d]`, of which means over bags are one sparse product.
///
/// Burn's own embedding layer cannot be differentiated twice, which meta-gradients need; the sparse product can, and its
/// backward pass is a sparse product, too.
#[derive(Module, Debug)]
pub(crate) struct EmbeddingTable<B: Backend> {
    weight: Param<Tensor<B, 2>>,
}

impl<B: Backend> EmbeddingTable<B> {
    /// Creates a table with embeddings drawn from `seed`: each element is normal with variance 1/d, so that an embedding
    /// has length 1 on average. PyTorch's default is variance 1, from which Adam takes d times as many steps to turn an
    /// embedding of which only the direction counts.
    pub(crate) fn new([n, d]: [usize; 2], seed: Seed, device: &B::Device) -> Self {
        Self::of_values(embeddings([n, d], seed), [n, d], device)
    }

    fn of_values(values: Vec<f32>, shape: [usize; 2], device: &B::Device) -> Self {
        let data = TensorData::new(values, shape);
        Self {
            weight: Param::from_tensor(Tensor::from_data(data, device)),
        }
    }

    /// Returns a table of n embeddings. The first ones are those of this table, bit for bit. Each other one is the
    /// embedding that [`new`](Self::new) with n embeddings and this seed draws for the same place.
    ///
    /// # Panics
    /// If the table has more than n embeddings.
    pub(crate) fn grown(&self, n: usize, seed: Seed) -> Self {
        let (weight, device) = (self.weight.val(), self.weight.device());
        let [n_known, d] = weight.dims();
        assert!(
            n_known <= n,
            "a table of {n_known} embeddings cannot have {n} of them, expected at least as many"
        );
        let known = weight.into_data().convert::<f32>();
        let added = embeddings([n, d], seed).into_iter().skip(n_known * d);
        let values = known.iter::<f32>().chain(added).collect();
        Self::of_values(values, [n, d], &device)
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
        graph::sparse_product(bags, self.weight.val())
    }
}

/// Draws n embeddings, one after another: the first ones are the same for every n.
fn embeddings([n, d]: [usize; 2], seed: Seed) -> Vec<f32> {
    let normal = Normal::new(0.0, (d as f32).sqrt().recip()).expect("a finite deviation");
    let mut rng = seed.rng();
    (0..n * d).map(|_| normal.sample(&mut rng)).collect()
}

/// Name and shape of the tensor of an [`EmbeddingTable`] at the path `name`.
pub(crate) fn table_tensor(name: &str, shape: [usize; 2]) -> (String, Vec<usize>) {
    (format!("{name}.weight"), shape.to_vec())
}
