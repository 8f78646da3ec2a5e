//! The traits that connect a data set to the trainer: samples and views.

use std::borrow::Cow;

use crate::Rng;
use crate::pairing::Pairing;

/// Error of a sample that could not be read, of any type that the data set uses.
pub type SampleError = Box<dyn std::error::Error + Send + Sync>;

/// Rows of numbers in the memory of the processor: the values, row after row, and the width of a row.
pub type HostRows = (Vec<f64>, usize);

/// A data set with access to its samples by index.
///
/// A `Vec`, a slice and an array of samples are data sets, and so is a reference to one. `FromDataset` (feature
/// `dataset`) makes one of any data set of Burn. A data set that decodes samples when they are read returns owned
/// samples. A data set with a cache uses an `Arc` as its sample type, which is cheap to clone.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no data set of samples",
    note = "a `Vec`, a slice and an array are; wrap a `burn::data::dataset::Dataset` in `FromDataset` (feature `dataset`), or \
            implement `Samples`"
)]
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

impl<T: Clone + Send + Sync> Samples for [T] {
    type Sample = T;

    fn n_samples(&self) -> usize {
        self.len()
    }

    fn sample(&self, index: usize) -> Result<Cow<'_, T>, SampleError> {
        Ok(Cow::Borrowed(&self[index]))
    }
}

impl<T: Clone + Send + Sync> Samples for Vec<T> {
    type Sample = T;

    fn n_samples(&self) -> usize {
        self.len()
    }

    fn sample(&self, index: usize) -> Result<Cow<'_, T>, SampleError> {
        self.as_slice().sample(index)
    }
}

impl<T: Clone + Send + Sync, const N: usize> Samples for [T; N] {
    type Sample = T;

    fn n_samples(&self) -> usize {
        N
    }

    fn sample(&self, index: usize) -> Result<Cow<'_, T>, SampleError> {
        self.as_slice().sample(index)
    }
}

impl<S: Samples + ?Sized> Samples for &S {
    type Sample = S::Sample;

    fn n_samples(&self) -> usize {
        (**self).n_samples()
    }

    fn sample(&self, index: usize) -> Result<Cow<'_, S::Sample>, SampleError> {
        (**self).sample(index)
    }
}

/// Augmentations q₁(·|x), q₂(·|x) that make a positive pair (section 3.1 of the paper).
///
/// Views are made on the CPU, one sample at a time, with a generator that belongs to the sample and
/// the pass. They do not depend on the thread that makes them.
///
/// Implement [`view`](Self::view) and [`plain`](Self::plain); the other methods are for views that depend
/// on other samples, as mixup noise does, and for the reuse of memory.
#[diagnostic::on_unimplemented(
    message = "`{Self}` makes no views",
    note = "`Augment::new(|sample, rng| ...)` makes views of a function; implement `Views` for more than that"
)]
pub trait Views: Send + Sync {
    /// Sample that views are made of.
    type Sample: Clone + Send + Sync;
    /// View of one sample, before collation.
    type View: Send;

    /// Makes a random view of `sample`.
    fn view(&self, sample: &Self::Sample, rng: &mut Rng) -> Self::View;

    /// Makes the view without augmentation, which evaluation protocols embed.
    fn plain(&self, sample: &Self::Sample) -> Self::View;

    /// Makes a view of a positive pair, which may depend on the pair and on other samples. The trainer
    /// makes all random views with this method. The default calls [`view`](Self::view).
    fn paired_view(
        &self,
        sample: &Self::Sample,
        _pairing: &Pairing<'_, Self::Sample>,
        rng: &mut Rng,
    ) -> Self::View {
        self.view(sample, rng)
    }

    /// Makes the view of [`paired_view`](Self::paired_view) in a slot that holds an earlier view, whose
    /// buffers may be reused.
    fn paired_view_into(
        &self,
        sample: &Self::Sample,
        pairing: &Pairing<'_, Self::Sample>,
        rng: &mut Rng,
        slot: &mut Self::View,
    ) {
        *slot = self.paired_view(sample, pairing, rng);
    }

    /// Returns the number of partners that a view needs: other samples, for views that mix samples.
    /// Default: 0.
    fn n_partners(&self) -> usize {
        0
    }

    /// Returns the number of positive pairs of each sample in a step, at least 1. Default: 1.
    ///
    /// The loss of a step is the sum of the losses of its pairs, each with an encoder pass of its own. The
    /// exact risk looks at the first pair.
    fn n_pairs(&self) -> usize {
        1
    }

    /// Returns whether the encoder mixes a view with other views of its batch. The exact risk then
    /// shuffles the samples before it divides them into batches, so that old samples mix with new ones.
    /// Default: no.
    fn mixes_in_batch(&self) -> bool {
        false
    }
}

/// Implements [`Views`] for pointers to views.
macro_rules! views_behind {
    ($($pointer:ty),*) => {$(
        impl<V: Views + ?Sized> Views for $pointer {
            type Sample = V::Sample;
            type View = V::View;

            fn view(&self, sample: &Self::Sample, rng: &mut Rng) -> Self::View {
                (**self).view(sample, rng)
            }

            fn plain(&self, sample: &Self::Sample) -> Self::View {
                (**self).plain(sample)
            }

            fn paired_view(
                &self,
                sample: &Self::Sample,
                pairing: &Pairing<'_, Self::Sample>,
                rng: &mut Rng,
            ) -> Self::View {
                (**self).paired_view(sample, pairing, rng)
            }

            fn paired_view_into(
                &self,
                sample: &Self::Sample,
                pairing: &Pairing<'_, Self::Sample>,
                rng: &mut Rng,
                slot: &mut Self::View,
            ) {
                (**self).paired_view_into(sample, pairing, rng, slot);
            }

            fn n_partners(&self) -> usize {
                (**self).n_partners()
            }

            fn n_pairs(&self) -> usize {
                (**self).n_pairs()
            }

            fn mixes_in_batch(&self) -> bool {
                (**self).mixes_in_batch()
            }
        }
    )*};
}

views_behind!(&V, Box<V>);
