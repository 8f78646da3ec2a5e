//! Positive pairs of old and new samples for Burn's data loader.

use burn::data::dataloader::batcher::Batcher;
use burn::tensor::backend::Backend;
use icl_core::{Collate, Origin, Views};

use super::output::PairBatch;
use crate::views::pair_batcher::PairBatcher;

/// [`PairBatcher`] of samples with their origins: old samples come first in a batch, as
/// [`ContrastiveStep`](crate::ContrastiveStep) takes them.
///
/// ```
/// # use burn::backend::Flex;
/// use burn::data::dataloader::batcher::Batcher;
/// use burn::tensor::Tensor;
/// use icl_core::{Augment, Origin, Seed, Stack};
/// use icl_train::{OriginBatcher, PairBatch, PairBatcher};
///
/// let views = Augment::new(|x: &[f32; 2], _| *x);
/// let batcher = OriginBatcher(PairBatcher::new(views, Stack, Seed::new(7)));
/// let items = vec![([2.0, 3.0], Origin::New), ([0.0, 1.0], Origin::Old)];
/// let batch: PairBatch<Tensor<Flex, 2>> = batcher.batch(items, &Default::default());
/// assert_eq!(batch.n_old, 1);
/// ```
#[derive(Debug)]
pub struct OriginBatcher<V, C>(pub PairBatcher<V, C>);

/// # Panics
/// As [`PairBatcher`].
impl<B, V, C, T> Batcher<B, (V::Sample, Origin), PairBatch<T>> for OriginBatcher<V, C>
where
    B: Backend,
    V: Views,
    C: Collate<B, V::View, T>,
{
    fn batch(&self, mut items: Vec<(V::Sample, Origin)>, device: &B::Device) -> PairBatch<T> {
        items.sort_by_key(|(_, origin)| *origin == Origin::New);
        let n_old = items.partition_point(|(_, origin)| *origin == Origin::Old);
        let samples = items.into_iter().map(|(sample, _)| sample).collect();
        PairBatch {
            views: self.0.batch(samples, device),
            n_old,
        }
    }
}
