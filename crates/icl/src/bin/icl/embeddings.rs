//! Embeddings of a whole data set, as the world sees them: without augmentation.

use burn::tensor::Tensor;
use icl::core::{Collate, Encoder, Mode, Views};
use icl::data::{GraphCollate, GraphDataset, GraphViewsConfig};
use icl::models::{Gcn, GraphBackend};

/// Graphs that go through the encoder at once.
const CHUNK: usize = 256;

/// Embeddings `[n, d]`, one row a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Embeddings {
    /// All values, row after row.
    pub values: Vec<f32>,
    /// The width of a row, d.
    pub d: usize,
}

impl Embeddings {
    /// The embeddings of the graphs of `data` as they are, in their order, with the normalisation
    /// statistics that the encoder has.
    ///
    /// # Panics
    /// If the node features are of another width than the encoder takes.
    pub fn of<B: GraphBackend>(encoder: &Gcn<B>, data: &GraphDataset, device: &B::Device) -> Self {
        let views = GraphViewsConfig::new().init();
        let mut embeddings = Self {
            values: Vec::new(),
            d: 0,
        };
        for chunk in data.graphs().chunks(CHUNK) {
            let plain: Vec<_> = chunk.iter().map(|graph| views.plain(graph)).collect();
            let batch = GraphCollate.collate(&plain, device);
            let rows: Tensor<B, 2> = encoder.encode(batch, Mode::Evaluation);
            embeddings.d = rows.dims()[1];
            embeddings
                .values
                .extend(rows.into_data().convert::<f32>().iter::<f32>());
        }
        embeddings
    }

    /// The rows, in their order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.d)
    }
}
