//! Adapters to Burn's data sets, batchers and data loaders (feature `dataset`).

use std::borrow::Cow;
use std::marker::PhantomData;

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::Dataset;
use burn::tensor::backend::Backend;

use crate::Error;
use crate::collate::Collate;
use crate::samples::{SampleError, Samples};

/// Samples of any [`Dataset`] of Burn.
///
/// ```
/// use burn::data::dataset::InMemDataset;
/// use icl_core::{FromDataset, Samples};
///
/// let samples = FromDataset::new(InMemDataset::new(vec![[0.0_f32, 1.0], [2.0, 3.0]]));
/// assert_eq!(samples.n_samples(), 2);
/// assert_eq!(*samples.sample(1)?, [2.0, 3.0]);
/// # Ok::<(), icl_core::SampleError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct FromDataset<D, I> {
    dataset: D,
    item: PhantomData<fn() -> I>,
}

impl<I, D: Dataset<I>> FromDataset<D, I> {
    /// Creates the samples of a data set.
    pub const fn new(dataset: D) -> Self {
        Self {
            dataset,
            item: PhantomData,
        }
    }
}

impl<I: Clone + Send + Sync, D: Dataset<I>> Samples for FromDataset<D, I> {
    type Sample = I;

    fn n_samples(&self) -> usize {
        self.dataset.len()
    }

    fn sample(&self, index: usize) -> Result<Cow<'_, I>, SampleError> {
        let item = self.dataset.get(index).ok_or_else(|| {
            let expected = format!("one: the data set has a length of {}", self.n_samples());
            Error::new(format!("sample {index}"), "no item", expected)
        })?;
        Ok(Cow::Owned(item))
    }
}

/// Collation by any [`Batcher`] of Burn. It clones each view, since a batcher takes its items.
#[derive(Debug, Clone, Copy, Default)]
pub struct FromBatcher<C>(pub C);

impl<B: Backend, V: Clone, T, C: Batcher<B, V, T>> Collate<B, V, T> for FromBatcher<C> {
    fn collate(&self, views: &[V], device: &B::Device) -> T {
        self.0.batch(views.to_vec(), device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collate::Stack;
    use crate::testing::{TestBackend, to_vec};
    use burn::data::dataset::InMemDataset;
    use burn::tensor::{Tensor, TensorData};

    #[test]
    fn items_are_samples_and_a_missing_one_is_an_error() {
        let samples = FromDataset::new(InMemDataset::new(vec![3, 5, 7]));
        let read: Vec<i32> = (0..samples.n_samples())
            .map(|at| *samples.sample(at).unwrap())
            .collect();
        assert_eq!(read, [3, 5, 7]);
        let error = samples.sample(3).unwrap_err().to_string();
        assert_eq!(
            error,
            "sample 3: found no item, expected one: the data set has a length of 3"
        );
    }

    struct Rows;

    impl<B: Backend> Batcher<B, [f32; 2], Tensor<B, 2>> for Rows {
        fn batch(&self, items: Vec<[f32; 2]>, device: &B::Device) -> Tensor<B, 2> {
            let n = items.len();
            Tensor::from_data(TensorData::new(items.concat(), [n, 2]), device)
        }
    }

    #[test]
    fn a_batcher_is_a_collation() {
        let views = [[1.0, 2.0], [3.0, 4.0]];
        let device = Default::default();
        let ours: Tensor<TestBackend, 2> = Stack.collate(&views, &device);
        let theirs: Tensor<TestBackend, 2> = FromBatcher(Rows).collate(&views, &device);
        assert_eq!(to_vec(&ours), to_vec(&theirs));
    }
}
