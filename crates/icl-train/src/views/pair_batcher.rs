//! Positive pairs for a data loader of Burn.

use std::sync::atomic::{AtomicU64, Ordering};

use burn::data::dataloader::batcher::Batcher;
use burn::tensor::backend::Backend;
use icl_core::{Collate, Seed, Side, Views};

use crate::views::pair_maker::PairMaker;
use crate::views::partners::Partners;

/// Batcher of Burn that makes positive pairs: the first views of all items, then their second views, in one batch, as
/// [`Encoder::encode_pairs`](icl_core::Encoder::encode_pairs) takes them. With it any views feed Burn's
/// `DataLoaderBuilder`.
///
/// Views are a function of the seed, the number of batches made before and the place of an item in its batch. So a
/// data loader with one worker or none gives the same views in every run; with several workers the order of batches
/// decides. Views that need partners ([`Views::n_partners`]) take them from the other items of the batch, and those
/// of several pairs ([`Views::n_pairs`]) make the first.
///
/// ```
/// # use burn::backend::Flex;
/// use burn::data::dataloader::batcher::Batcher;
/// use burn::tensor::Tensor;
/// use icl_core::{Augment, Seed, Stack};
/// use icl_train::PairBatcher;
/// use rand::RngExt;
///
/// let views = Augment::new(|x: &[f32; 2], rng| x.map(|x| x + 0.1 * rng.random::<f32>()));
/// let batcher = PairBatcher::new(views, Stack, Seed::new(7));
/// let batch: Tensor<Flex, 2> = batcher.batch(vec![[0.0, 1.0], [2.0, 3.0]], &Default::default());
/// assert_eq!(batch.dims(), [4, 2]);
/// ```
#[derive(Debug)]
pub struct PairBatcher<V, C> {
    views: V,
    collate: C,
    seed: Seed,
    is_fixed: bool,
    n_batches: AtomicU64,
}

impl<V, C> PairBatcher<V, C> {
    /// Creates a batcher that has made no batch.
    pub fn new(views: V, collate: C, seed: Seed) -> Self {
        Self {
            views,
            collate,
            seed,
            is_fixed: false,
            n_batches: AtomicU64::new(0),
        }
    }

    /// Makes the views of a place in a batch the same in every batch, so that a validation loader that does not shuffle
    /// gives the same views in every epoch.
    #[must_use]
    pub fn fixed(self) -> Self {
        Self {
            is_fixed: true,
            ..self
        }
    }
}

/// # Panics
/// If views need partners and a batch has a single item.
impl<B, V, C, T> Batcher<B, V::Sample, T> for PairBatcher<V, C>
where
    B: Backend,
    V: Views,
    C: Collate<B, V::View, T>,
{
    fn batch(&self, items: Vec<V::Sample>, device: &B::Device) -> T {
        let n_before = match self.is_fixed {
            true => 0,
            false => self.n_batches.fetch_add(1, Ordering::Relaxed),
        };
        let population: Vec<usize> = (0..items.len()).collect();
        let maker = PairMaker {
            views: &self.views,
            partners: Partners::new(&items, &population),
            seed: self.seed.at(n_before),
        };
        let pairs = Side::BOTH
            .into_iter()
            .flat_map(|side| items.iter().enumerate().map(move |item| (item, side)));
        let views: Vec<V::View> = pairs
            .map(|((at, item), side)| {
                let view = maker.make((at, 0), item, (0, side), None);
                view.unwrap_or_else(|error| panic!("a batch of pairs: {error}"))
            })
            .collect();
        self.collate.collate(&views, device)
    }
}
