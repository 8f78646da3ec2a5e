//! Embeddings of plain views.

use burn::tensor::{Tensor, backend::Backend};
use icl_core::{Collate, Encoder, HostRows, Samples, Views, host_values};

use crate::error::{TrainError, unreadable};
use crate::evaluation::evaluator::Evaluator;
use crate::evaluation::fixed_views::{CHUNK, collated};
use crate::evaluation::shape::{checked_rows, stacked};

impl<B, S, V, C> Evaluator<'_, B, S, V, C>
where
    B: Backend,
    S: Samples,
    V: Views<Sample = S::Sample>,
{
    /// Computes the embeddings `[n, d]` of the samples' plain views ([`Views::plain`]), with the
    /// normalisation statistics that the encoder has.
    ///
    /// # Errors
    /// [`TrainError`], also if there are no samples.
    pub fn embed<M>(&self, encoder: &M, samples: &[usize]) -> Result<Tensor<B, 2>, TrainError>
    where
        M: Encoder<B>,
        C: Collate<B, V::View, M::Batch>,
    {
        self.check_samples("samples", samples)?;
        let chunks = samples.chunks(CHUNK).map(|chunk| {
            let plain = |_, sample: &S::Sample| Ok(self.problem.views.plain(sample));
            let batch = collated::<B, _, _, _, _>(self.problem, &self.device, chunk, plain);
            let batch = batch.map_err(unreadable)?;
            checked_rows::<M, B>("embed", encoder.embed(batch), chunk.len())
        });
        stacked::<M, B>("embed", chunks.collect::<Result<_, TrainError>>()?)
    }

    /// Computes the embeddings of [`embed`](Self::embed) and returns them as numbers in host memory, row
    /// by row, with their width d.
    ///
    /// # Errors
    /// As [`embed`](Self::embed).
    pub fn embed_to_host<M>(&self, encoder: &M, samples: &[usize]) -> Result<HostRows, TrainError>
    where
        M: Encoder<B>,
        C: Collate<B, V::View, M::Batch>,
    {
        let embeddings = self.embed(encoder, samples)?;
        let [_, width] = embeddings.dims();
        Ok((host_values(embeddings), width))
    }
}
