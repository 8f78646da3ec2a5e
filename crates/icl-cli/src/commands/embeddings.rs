//! Embeddings of a whole data set, as the world sees them: without augmentation.

use anyhow::anyhow;
use burn::tensor::Tensor;
use icl_core::{Collate, Encoder, Samples, Views};

use crate::backend::ProgramBackend;
use crate::domain::Domain;
use crate::process::failure::Failure;

/// Samples that go through the encoder at once.
const CHUNK: usize = 256;

/// Embeddings `[n, d]`, one row a sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Embeddings {
    /// All values, row after row.
    pub values: Vec<f32>,
    /// The width of a row, d.
    pub d: usize,
}

impl Embeddings {
    /// The embeddings of the samples of `data` as they are, in their order, with the normalisation
    /// statistics that the encoder has.
    ///
    /// # Errors
    /// If a sample cannot be read.
    ///
    /// # Panics
    /// If the encoder cannot take the samples.
    pub fn of<D: Domain, B: ProgramBackend>(
        domain: &D,
        encoder: &D::Encoder<B>,
        data: &D::Data,
        device: &B::Device,
    ) -> Result<Self, Failure> {
        let mut embeddings = Self {
            values: Vec::new(),
            d: 0,
        };
        let samples: Vec<usize> = (0..data.n_samples()).collect();
        for chunk in samples.chunks(CHUNK) {
            let mut plain = Vec::with_capacity(chunk.len());
            for &index in chunk {
                let sample = data
                    .sample(index)
                    .map_err(|error| Failure::Input(anyhow!(error)))?;
                plain.push(domain.views().plain(&sample));
            }
            let batch = D::COLLATE.collate::<B>(&plain, device);
            let rows: Tensor<B, 2> = encoder.embed(batch);
            embeddings.d = rows.dims()[1];
            let rows = rows.into_data().convert::<f32>();
            embeddings.values.extend(rows.iter::<f32>());
        }
        Ok(embeddings)
    }

    /// The rows, in their order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.d)
    }
}
