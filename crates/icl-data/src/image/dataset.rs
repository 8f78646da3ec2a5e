//! A data set of images.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use icl_core::{GrowthRatio, Increment, SampleError, Samples, Seed};
use rayon::prelude::*;

use super::raster::Image;
use super::stored::StoredImage;
use crate::content::{ContentHash, contents};
use crate::error::DataError;
use crate::increments::n_equal;
use crate::place::Found;
use crate::selection::n_class;
use crate::split::Split;

/// Counts of the images that were read and of the files that were ignored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImageCounts {
    /// Number of images of each class.
    pub n_class: Vec<usize>,
    /// Number of files and folders of an image folder that are ignored: those whose names begin with a dot, and folders
    /// in which other programs keep thumbnails or deleted files, such as `@eaDir`.
    pub n_hidden: usize,
    /// Number of files of an image folder whose names are not those of JPEG, PNG or WebP files; they
    /// are ignored.
    pub n_other: usize,
    /// Errors of the broken images that were left out because of [`ImageOptions::skip_broken`], each with its file.
    ///
    /// [`ImageOptions::skip_broken`]: crate::ImageOptions::skip_broken
    pub broken: Vec<String>,
}

/// A data set of images with the same number of channels, whose sizes may differ.
///
/// Its [`Samples`] are the images. Images of IDX and CIFAR files are in memory; images of a folder
/// are decoded on demand and cached up to
/// [`ImageOptions::cache_bytes`](crate::ImageOptions::cache_bytes) bytes. Clones, selections and all
/// threads share the cache.
///
/// Every class has at least one image.
#[derive(Clone)]
pub struct ImageDataset {
    pub(super) name: String,
    pub(super) images: Arc<[StoredImage]>,
    /// Place of each image among all that its files have, which selections and broken images do not change.
    pub(super) positions: Arc<[usize]>,
    pub(super) labels: Arc<[usize]>,
    pub(super) class_names: Arc<[String]>,
    pub(super) has_labels: bool,
    /// Further names by which classes can be selected, each with the name of its class.
    pub(super) aliases: &'static [(&'static str, &'static str)],
    pub(super) channels: usize,
    pub(super) counts: ImageCounts,
}

impl ImageDataset {
    /// Creates a data set in which every class has an image, and counts the images of each class.
    pub(super) fn from_parts(
        name: String,
        images: Vec<StoredImage>,
        labels: Vec<usize>,
        class_names: Vec<String>,
        channels: usize,
    ) -> Self {
        let counts = ImageCounts {
            n_class: n_class(labels.iter().copied(), class_names.len()),
            ..ImageCounts::default()
        };
        Self {
            name,
            positions: (0..images.len()).collect(),
            images: images.into(),
            labels: labels.into(),
            class_names: class_names.into(),
            has_labels: true,
            aliases: &[],
            channels,
            counts,
        }
    }

    /// Creates a data set in memory, whose classes are the distinct numbers in `labels`, ascending.
    pub(crate) fn of_numbers(
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

    /// Returns the place of each image among all images of the files, counted from 0. It differs from the number of the
    /// image where classes or a number of images were selected, or broken images were left out.
    pub fn positions(&self) -> &[usize] {
        &self.positions
    }

    /// Returns the path of each image relative to the folder that was read, with `/` between its parts; `None` if an
    /// image is in no file of its own, or a path is no UTF-8.
    pub fn paths(&self) -> Option<Vec<String>> {
        let path = |image: &StoredImage| String::from_utf8(image.path()?).ok();
        self.images.iter().map(path).collect()
    }

    /// Returns names of classes with each alias replaced by the name of its class.
    pub(super) fn without_aliases(&self, names: &[String]) -> Vec<String> {
        let named = |name: &String| {
            let of_alias = self.aliases.iter().find(|(alias, _)| alias == name);
            of_alias.map_or_else(|| name.clone(), |(_, name)| (*name).to_owned())
        };
        names.iter().map(named).collect()
    }

    /// Returns the name of the data set, from its files.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the name of the data set, which messages and the names of written files use.
    #[must_use]
    pub fn with_name(self, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..self
        }
    }

    /// Returns the class of each image, as an index into [`class_names`](Self::class_names).
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// Returns the name of each class, by which it is selected. Images without labels have a single class, named
    /// `unlabelled`.
    ///
    /// The names of classes of IDX and CIFAR files are their numbers, in ascending order; those of a
    /// folder are the names of its subfolders, sorted by their bytes.
    pub fn class_names(&self) -> &[String] {
        &self.class_names
    }

    /// Returns the number of images.
    pub fn n_images(&self) -> usize {
        self.images.len()
    }

    /// Returns the number of channels of every image: 1 for grey, 3 for RGB.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Returns the common side of all images in pixels, if all are squares of this side in memory, as
    /// those of MNIST and CIFAR are.
    ///
    /// Returns `None` for images in files, which are not read for this.
    pub fn common_side(&self) -> Option<usize> {
        let side_of = |image: &StoredImage| match image {
            StoredImage::Held(image) if image.width() == image.height() => Some(image.width()),
            _ => None,
        };
        let side = side_of(self.images.first()?)?;
        let is_common = |image| side_of(image) == Some(side);
        self.images.iter().all(is_common).then_some(side)
    }

    /// Returns the counts of the images that were read and of the files that were ignored.
    pub fn counts(&self) -> &ImageCounts {
        &self.counts
    }

    /// Returns a checksum that identifies the data when work is resumed: a CRC-32 as 8 hexadecimal
    /// digits.
    ///
    /// The checksum covers the labels and, for images in memory, their shapes and pixels. For images
    /// in files it covers their names (relative to the folder that was read, with `/` between the
    /// parts) and lengths instead of their contents: a folder may be larger than memory, and reading
    /// all of it would take too long. A file that was replaced by another of the same name and
    /// length is therefore not detected.
    pub fn checksum(&self) -> String {
        let mut sum = crc32fast::Hasher::new();
        for (image, &label) in self.images.iter().zip(&*self.labels) {
            image.identify(&mut sum);
            sum.update(&(label as u64).to_le_bytes());
        }
        format!("{:08x}", sum.finalize())
    }

    /// Returns the number of pixels of each image, width times height.
    ///
    /// # Errors
    /// [`DataError`] if a file has become unreadable or broken since the data set was read: the
    /// headers of the files are read again.
    pub fn sizes(&self) -> Result<Vec<usize>, DataError> {
        let sizes: Vec<_> = self.images.par_iter().map(StoredImage::n_pixels).collect();
        // The first error in the order of the images, independently of the threads.
        sizes.into_iter().collect()
    }

    /// Splits the images into old and new ones; see [`Split::increment`].
    ///
    /// The key of [`Split::Size`] is the number of pixels, for which the headers of the files are
    /// read; the key of [`Split::Class`] is the label.
    ///
    /// # Errors
    /// [`DataError`]
    /// - if either part would have fewer
    ///   than two images;
    /// - if the split does not fit the data;
    /// - if it is one of classes and the images have none;
    /// - the errors of [`sizes`](Self::sizes).
    pub fn increment(
        &self,
        split: Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, DataError> {
        if matches!(split, Split::Class | Split::Classes(_)) {
            self.check_labels(&format!("split {}", Found::new(&split.to_string())))?;
        }
        match &split {
            Split::Size => split.increment(&self.sizes()?, alpha, seed),
            Split::Random | Split::Class => split.increment(&self.labels, alpha, seed),
            Split::Classes(old) => {
                let old = self.without_aliases(old);
                let keys = Split::class_keys(&self.name, &old, &self.labels, &self.class_names)?;
                split.increment(&keys, alpha, seed)
            }
            Split::Column(_) | Split::Time => Err(split.unfit("images")),
        }
    }

    /// Returns one image, which a folder may have to decode.
    ///
    /// # Errors
    /// [`DataError`] if its file has become unreadable or broken since the data set was read.
    ///
    /// # Panics
    /// If `index` is not below [`n_images`](Self::n_images).
    pub fn image(&self, index: usize) -> Result<Arc<Image>, DataError> {
        self.images[index].image().map(Cow::into_owned)
    }

    /// Returns the [hash of the content](ContentHash) of each image: its sides, channels and pixels. All images are
    /// decoded once, so that a folder takes as long as it takes to read it.
    ///
    /// # Errors
    /// [`DataError`] if a file has become unreadable or broken since the data set was read.
    pub fn contents(&self) -> Result<Vec<u64>, DataError> {
        let content = |index: usize| {
            let image = self.images[index].image()?;
            let sides = [image.width(), image.height(), image.channels()];
            let sum = sides
                .iter()
                .fold(ContentHash::new(), |sum, &side| sum.count(side as u64));
            Ok(sum.text(image.pixels()).finish())
        };
        contents(self.n_images(), content).into_iter().collect()
    }

    /// Returns the number of new images that equal an old one in their shapes and pixels, whatever
    /// their classes are.
    ///
    /// All images are decoded once, so that a folder takes as long as it takes to read it.
    ///
    /// # Errors
    /// [`DataError`] if a file has become unreadable or broken since the data set was read.
    pub fn n_equal(&self, increment: &Increment) -> Result<usize, DataError> {
        let key = |stored: &StoredImage| {
            let image = stored.image()?;
            let mut sum = md5::Context::new();
            // All images have the same channels, so that the width and the pixels determine the height.
            sum.consume((image.width() as u64).to_le_bytes());
            sum.consume(image.pixels());
            Ok(sum.finalize().0)
        };
        let keys: Vec<Result<[u8; 16], DataError>> = self.images.par_iter().map(key).collect();
        // The first error in the order of the images, independently of the threads.
        let keys: Vec<[u8; 16]> = keys.into_iter().collect::<Result<_, _>>()?;
        Ok(n_equal(increment, |index| keys[index]))
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
    /// Prints everything but the images.
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
