//! From samples to batches: the three traits that connect a user's data to the trainer.

use std::borrow::Cow;

use burn::tensor::backend::Backend;

use crate::Rng;

/// Why a sample could not be read: whatever the data set's own error type is.
pub type SampleError = Box<dyn std::error::Error + Send + Sync>;

/// A data set: samples by index.
///
/// A `Vec` of samples is one. A data set that decodes lazily returns owned samples; one with a
/// cache uses an `Arc` as its sample, which is cheap to clone.
pub trait Samples: Sync {
    /// One sample, before any view of it is made.
    type Sample: Clone + Send + Sync;

    /// The number of samples.
    fn n_samples(&self) -> usize;

    /// The sample at `index`, which is below [`n_samples`](Self::n_samples).
    ///
    /// # Errors
    /// Whatever makes the sample unreadable; the run stops with it.
    fn sample(&self, index: usize) -> Result<Cow<'_, Self::Sample>, SampleError>;
}

impl<T: Clone + Send + Sync> Samples for Vec<T> {
    type Sample = T;

    fn n_samples(&self) -> usize {
        self.len()
    }

    fn sample(&self, index: usize) -> Result<Cow<'_, T>, SampleError> {
        Ok(Cow::Borrowed(&self[index]))
    }
}

/// The augmentations q₁(·|x), q₂(·|x) that make a positive pair (section 3.1 of the paper).
///
/// Views are made on the CPU, each sample by itself, from a generator that belongs to that sample
/// and that pass: the same whatever thread makes them.
pub trait Views: Sync {
    /// What a view is made of.
    type Sample: Clone + Send + Sync;
    /// A view of one sample, before collation.
    type View: Send;

    /// One random view of `sample`.
    fn view(&self, sample: &Self::Sample, rng: &mut Rng) -> Self::View;

    /// The view without augmentation, which protocols embed.
    fn plain(&self, sample: &Self::Sample) -> Self::View;

    /// As [`view`](Self::view), but into a slot that holds an earlier view, whose buffers may be
    /// used again.
    fn view_into(&self, sample: &Self::Sample, rng: &mut Rng, slot: &mut Self::View) {
        *slot = self.view(sample, rng);
    }
}

impl<V: Views> Views for &V {
    type Sample = V::Sample;
    type View = V::View;

    fn view(&self, sample: &Self::Sample, rng: &mut Rng) -> Self::View {
        (**self).view(sample, rng)
    }

    fn plain(&self, sample: &Self::Sample) -> Self::View {
        (**self).plain(sample)
    }

    fn view_into(&self, sample: &Self::Sample, rng: &mut Rng, slot: &mut Self::View) {
        (**self).view_into(sample, rng, slot);
    }
}

/// Collation: a list of views becomes one batch on a device of any backend.
pub trait Collate: Sync {
    /// The view that [`Views`] makes.
    type View;
    /// The batch that [`Encoder`](crate::Encoder) takes.
    type Batch<B: Backend>: Clone + Send;

    /// Makes the batch of these views, in their order.
    fn collate<B: Backend>(&self, views: &[Self::View], device: &B::Device) -> Self::Batch<B>;
}

impl<C: Collate> Collate for &C {
    type View = C::View;
    type Batch<B: Backend> = C::Batch<B>;

    fn collate<B: Backend>(&self, views: &[Self::View], device: &B::Device) -> Self::Batch<B> {
        (**self).collate::<B>(views, device)
    }
}
