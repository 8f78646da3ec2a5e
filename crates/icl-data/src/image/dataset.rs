//! A data set of images.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use icl_core::{GrowthRatio, Increment, SampleError, Samples, Seed};
use rayon::prelude::*;

use super::raster::Image;
use super::stored::StoredImage;
use crate::error::DataError;
use crate::split::Split;

/// Counts that say what was read and what was left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImageCounts {
    /// The number of images of each class.
    pub n_class: Vec<usize>,
    /// Files and folders of an image folder whose names begin with a dot: not looked at.
    pub n_hidden: usize,
    /// Files of an image folder whose names are not those of JPEG, PNG or WebP files: not read.
    pub n_other: usize,
    /// Broken images that were left out, which [`ImageOptions::skip_broken`] asks for.
    ///
    /// [`ImageOptions::skip_broken`]: crate::ImageOptions::skip_broken
    pub n_broken: usize,
}

/// A data set of images of one number of channels, whose sizes may differ.
///
/// As [`Samples`] it hands out its images. Those of IDX and CIFAR files are in memory; those of a
/// folder are decoded when they are asked for, and what was decoded is held up to
/// [`ImageOptions::cache_bytes`](crate::ImageOptions::cache_bytes) bytes, which clones, selections
/// and all threads share.
///
/// Every class has an image.
#[derive(Clone)]
pub struct ImageDataset {
    pub(super) name: String,
    pub(super) images: Arc<[StoredImage]>,
    pub(super) labels: Arc<[usize]>,
    pub(super) class_names: Arc<[String]>,
    /// Further names of classes, by which they can be selected, and the names that they stand for.
    pub(super) aliases: &'static [(&'static str, &'static str)],
    pub(super) channels: usize,
    pub(super) counts: ImageCounts,
}

impl ImageDataset {
    /// A data set of which every class has an image. Of the counts, those of classes are made here.
    pub(super) fn from_parts(
        name: String,
        images: Vec<StoredImage>,
        labels: Vec<usize>,
        class_names: Vec<String>,
        channels: usize,
    ) -> Self {
        let mut counts = ImageCounts {
            n_class: vec![0; class_names.len()],
            ..ImageCounts::default()
        };
        for &label in &labels {
            counts.n_class[label] += 1;
        }
        Self {
            name,
            images: images.into(),
            labels: labels.into(),
            class_names: class_names.into(),
            aliases: &[],
            channels,
            counts,
        }
    }

    /// A data set in memory, whose classes are the distinct numbers in `labels`, ascending.
    pub(super) fn of_numbers(
        name: String,
        images: Vec<Image>,
        labels: &[u8],
        channels: usize,
    ) -> Self {
        let mut classes = labels.to_vec();
        classes.sort_unstable();
        classes.dedup();
        let class_of = |label: &u8| classes.partition_point(|other| other < label);
        let held = |image| StoredImage::Held(Arc::new(image));
        Self::from_parts(
            name,
            images.into_iter().map(held).collect(),
            labels.iter().map(class_of).collect(),
            classes.iter().map(u8::to_string).collect(),
            channels,
        )
    }

    /// The data set's name, taken from its files.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The class of each image, as an index into [`class_names`](Self::class_names).
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// The name of each class, by which it is selected.
    ///
    /// Classes of IDX and CIFAR files are called by their numbers, in ascending order; those of a
    /// folder by their folders' names, in the order of the names' bytes.
    pub fn class_names(&self) -> &[String] {
        &self.class_names
    }

    /// The number of images.
    pub fn n_images(&self) -> usize {
        self.images.len()
    }

    /// The number of channels of every image: 1 for grey, 3 for RGB.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// The side of every image, if all are squares of one side and in memory, as MNIST's and CIFAR's
    /// are; `None` for a folder, whose files are not asked.
    pub fn common_side(&self) -> Option<usize> {
        let side_of = |image: &StoredImage| match image {
            StoredImage::Held(image) if image.width() == image.height() => Some(image.width()),
            _ => None,
        };
        let side = side_of(self.images.first()?)?;
        let is_common = |image| side_of(image) == Some(side);
        self.images.iter().all(is_common).then_some(side)
    }

    /// What was read and what was left out.
    pub fn counts(&self) -> &ImageCounts {
        &self.counts
    }

    /// The sum by which interrupted work knows its data again: a CRC-32 as 8 hexadecimal digits.
    ///
    /// It is over the labels and, for images in memory, over their shapes and pixels. For files it
    /// is over their names (relative to the folder that was read, with `/` between the parts) and
    /// lengths instead of their contents: a folder may be larger than memory, and reading all of it
    /// whenever work is resumed would take too long. So a file that was exchanged for another of
    /// the same length and name is not noticed.
    pub fn checksum(&self) -> String {
        let mut sum = crc32fast::Hasher::new();
        for (image, &label) in self.images.iter().zip(&*self.labels) {
            image.identify(&mut sum);
            sum.update(&(label as u64).to_le_bytes());
        }
        format!("{:08x}", sum.finalize())
    }

    /// The number of pixels of each image, width times height.
    ///
    /// # Errors
    /// [`DataError`] if a file has become unreadable or broken since the data set was read: the
    /// sizes are taken from the headers of the files again.
    pub fn sizes(&self) -> Result<Vec<usize>, DataError> {
        let sizes: Vec<_> = self.images.par_iter().map(StoredImage::n_pixels).collect();
        // The first error in the order of the images, whichever thread was first.
        sizes.into_iter().collect()
    }

    /// Parts the images into old and new ones; see [`Split::increment`].
    ///
    /// The key of [`Split::Size`] is the number of pixels, which is read from the files' headers
    /// for this split only; that of [`Split::Class`] is the label.
    ///
    /// # Errors
    /// [`DataError::SplitTooSmall`] if fewer than two images are left on one side, and what
    /// [`sizes`](Self::sizes) fails with.
    pub fn increment(
        &self,
        split: Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, DataError> {
        match split {
            Split::Size => split.increment(&self.sizes()?, alpha, seed),
            Split::Random | Split::Class => split.increment(&self.labels, alpha, seed),
        }
    }
}

impl Samples for ImageDataset {
    type Sample = Arc<Image>;

    fn n_samples(&self) -> usize {
        self.images.len()
    }

    fn sample(&self, index: usize) -> Result<Cow<'_, Arc<Image>>, SampleError> {
        Ok(self.images[index].image()?)
    }
}

impl fmt::Debug for ImageDataset {
    /// Everything but the images.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ImageDataset")
            .field("name", &self.name)
            .field("n_images", &self.images.len())
            .field("class_names", &self.class_names)
            .field("channels", &self.channels)
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}
