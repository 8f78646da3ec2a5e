//! Embeddings of fixed pairs of views, as the losses see them.

use burn::tensor::backend::Backend;
use icl_core::{Collate, Encoder, HostRows, Increment, SampleError, Samples, Views, host_values};

use super::evaluator::Evaluator;

impl<B, S, V, C> Evaluator<'_, B, S, V, C>
where
    B: Backend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    C: Collate<View = V::View>,
{
    /// Computes the embeddings of the fixed pair of views of some old samples, in their order, on the host: the anchors and
    /// their positives, with the statistics that the encoder has. They are the rows from which losses are computed: in an
    /// encoder with a projection head the projections.
    ///
    /// # Errors
    /// [`SampleError`] if a sample cannot be read, or a view needs partners and there is no other sample.
    ///
    /// # Panics
    /// If there is no sample.
    pub fn pairs_to_host<M>(
        &self,
        encoder: &M,
        increment: &Increment,
    ) -> Result<[HostRows; 2], SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let views = self.fixed_views(increment.old(), increment);
        let pairs = views.embeddings(encoder)?;
        Ok(pairs.map(|rows| {
            let [_, width] = rows.dims();
            (host_values(rows), width)
        }))
    }
}
