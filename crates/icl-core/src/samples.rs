//! The traits that connect a data set to the trainer: samples, views and collation.

use std::borrow::Cow;

use burn::tensor::backend::Backend;

use crate::Rng;

/// Error of a sample that could not be read, of any type that the data set uses.
pub type SampleError = Box<dyn std::error::Error + Send + Sync>;

/// A data set with access to its samples by index.
///
/// A `Vec` of samples is a data set. One that decodes lazily returns owned samples; one with a cache
/// uses an `Arc` as its sample type, which is cheap to clone.
pub trait Samples: Sync {
    /// Sample before augmentation.
    type Sample: Clone + Send + Sync;

    /// Returns the number of samples.
    fn n_samples(&self) -> usize;

    /// Returns the sample at `index`, which is below [`n_samples`](Self::n_samples).
    ///
    /// # Errors
    /// An error of any type if the sample cannot be read. It ends the run.
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

/// Augmentations q₁(·|x), q₂(·|x) that make a positive pair (section 3.1 of the paper).
///
/// Views are made on the CPU, one sample at a time, with a generator that belongs to the sample and
/// the pass. They do not depend on the thread that makes them.
pub trait Views: Sync {
    /// Sample that views are made of.
    type Sample: Clone + Send + Sync;
    /// View of one sample, before collation.
    type View: Send;

    /// Makes a random view of `sample`.
    fn view(&self, sample: &Self::Sample, rng: &mut Rng) -> Self::View;

    /// Makes the view without augmentation, which evaluation protocols embed.
    fn plain(&self, sample: &Self::Sample) -> Self::View;

    /// Makes a random view as [`view`](Self::view) does, into a slot that holds an earlier view. The
    /// buffers of the earlier view may be reused.
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
