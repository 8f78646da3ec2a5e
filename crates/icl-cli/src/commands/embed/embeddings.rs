//! Embeddings of a data set.

use anyhow::anyhow;
use burn::tensor::Tensor;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Encoder, HostRows, Increment, Samples, Views};
use icl_train::Trainer;

use crate::domain::Domain;
use crate::domain::collation::OnEveryBackend;
use crate::process::failure::Failure;

/// Maximum number of samples per encoder pass.
const CHUNK: usize = 256;

/// Embeddings `[n, d]`, a row for each sample.
pub struct Embeddings {
    /// All values, row by row.
    pub values: Vec<f32>,
    /// Width of a row, d.
    pub d: usize,
}

impl Embeddings {
    /// Embeds the samples of `data` without augmentation, in their order, with the normalisation
    /// statistics of the encoder.
    ///
    /// # Errors
    /// If a sample cannot be read.
    ///
    /// # Panics
    /// If the encoder cannot take the samples.
    pub fn plain<D: Domain, B: Backend>(
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
            let batch = domain.collate().0.batch::<B>(&plain, device);
            let rows: Tensor<B, 2> = encoder.embed(batch);
            embeddings.d = rows.dims()[1];
            let rows = rows.into_data().convert::<f32>();
            embeddings.values.extend(rows.iter::<f32>());
        }
        Ok(embeddings)
    }

    /// Embeds two random views of each sample of `data`, in their order, as the losses see them: through the projection head
    /// if there is one.
    ///
    /// # Errors
    /// If there are fewer than two samples, or one cannot be read.
    ///
    /// # Panics
    /// If the encoder cannot take the samples.
    pub fn pairs<D: Domain, B: AutodiffBackend>(
        domain: &D,
        encoder: &D::Encoder<B::InnerBackend>,
        data: &D::Data,
        device: &B::Device,
        seed: u64,
    ) -> Result<[Self; 2], Failure> {
        let all = (0..data.n_samples()).collect();
        let increment = Increment::before(all).map_err(Failure::input)?;
        let trainer =
            Trainer::<B, D::Data, _, _>::new(data, domain.views(), domain.collate(), &increment)
                .seed(seed)
                .device(device.clone());
        let pairs = trainer.evaluator().pairs_to_host(encoder, &increment);
        let pairs = pairs.map_err(Failure::input)?;
        Ok(pairs.map(|(values, d): HostRows| Self {
            values: values.into_iter().map(|value| value as f32).collect(),
            d,
        }))
    }

    /// Returns the rows, in their order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.d)
    }
}
