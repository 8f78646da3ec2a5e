//! Joining of old and new images, read from two places, into one data set.

use std::iter;

use icl_core::Increment;

use super::dataset::{ImageCounts, ImageDataset};
use crate::error::DataError;
use crate::increments::increment_of_parts;
use crate::place::Found;
use crate::selection::united;

impl ImageDataset {
    /// Joins two data sets: the images of `old`, then those of `new`, and the increment of both.
    ///
    /// **Classes** are identified by their names, in whichever data set they occur. The classes of
    /// `old` keep their indices; classes that only `new` has follow in their order. If one of the data sets has no
    /// labels, the joined one has none.
    ///
    /// The name is `OLD+NEW`, and the counts are sums. Each folder keeps its own cache.
    ///
    /// ```
    /// use icl_data::{ImageDataset, embedded};
    ///
    /// let old = embedded::images("MNIST-1v7")?;
    /// let new = embedded::images("MNIST-1v7-test")?;
    /// let (both, increment) = ImageDataset::join(&old, &new)?;
    /// assert_eq!(both.n_images(), 2140);
    /// assert_eq!(increment.new_data()[0], 2000);
    /// # Ok::<(), icl_data::DataError>(())
    /// ```
    ///
    /// # Errors
    /// [`DataError`]
    /// - if one of them has fewer than two images;
    /// - if one is grey and the other in colour.
    pub fn join(old: &Self, new: &Self) -> Result<(Self, Increment), DataError> {
        let parts = [old, new].map(|data| (data.name(), data.n_images()));
        let increment = increment_of_parts(parts, "images")?;
        Ok((old.append(new)?, increment))
    }

    /// Appends the images of another data set, however few, as [`join`](Self::join) does.
    ///
    /// # Errors
    /// Those of [`join`](Self::join), but for that of few samples.
    pub fn append(&self, new: &Self) -> Result<Self, DataError> {
        let old = self;
        if old.channels != new.channels {
            return Err(DataError::new(
                format!(
                    "data sets {} and {}",
                    Found::new(&old.name),
                    Found::new(&new.name)
                ),
                format!("images of {} and {} channels", old.channels, new.channels),
                "the same number in both",
            ));
        }
        let (class_names, of_new) = united(&old.class_names, &new.class_names);
        let labels = iter::chain(
            old.labels.iter().copied(),
            new.labels.iter().map(|&label| of_new[label] as usize),
        );
        let images = iter::chain(old.images.iter(), new.images.iter()).cloned();
        let joined = Self::from_parts(
            format!("{}+{}", old.name, new.name),
            images.collect(),
            labels.collect(),
            class_names,
            old.channels,
        );
        let joined = Self {
            counts: ImageCounts {
                n_hidden: old.counts.n_hidden + new.counts.n_hidden,
                n_other: old.counts.n_other + new.counts.n_other,
                broken: [&old.counts.broken[..], &new.counts.broken].concat(),
                ..joined.counts
            },
            // Aliases of one data set may be wrong in the other.
            aliases: if old.aliases == new.aliases {
                old.aliases
            } else {
                &[]
            },
            ..joined
        };
        Ok(match old.has_labels && new.has_labels {
            true => joined,
            false => joined.without_labels(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::raster::Image;

    fn grey(name: &str, labels: &[u8]) -> ImageDataset {
        of_channels(name, labels, 1)
    }

    fn of_channels(name: &str, labels: &[u8], channels: usize) -> ImageDataset {
        let image = |index: usize| Image::new(1, 1, channels, vec![index as u8; channels]);
        let images = (0..labels.len()).map(image).collect();
        ImageDataset::of_numbers(name.into(), images, labels, channels)
    }

    #[test]
    fn classes_are_matched_by_name_and_new_ones_follow() {
        let old = grey("OLD", &[5, 3, 5]);
        let new = grey("NEW", &[9, 5, 1]);
        let (joined, increment) = ImageDataset::join(&old, &new).unwrap();
        assert_eq!(joined.name(), "OLD+NEW");
        assert_eq!(joined.class_names(), ["3", "5", "1", "9"]);
        assert_eq!(joined.labels(), [1, 0, 1, 3, 1, 2]);
        assert_eq!(joined.counts().n_class, [1, 3, 1, 1]);
        assert_eq!(increment.old(), [0, 1, 2]);
        assert_eq!(increment.new_data(), [3, 4, 5]);
        let last = joined.images[5].image().unwrap();
        assert_eq!(last.pixels(), [2]);
    }

    #[test]
    fn what_cannot_be_joined_is_an_error() {
        let message = |old, new| {
            let error = ImageDataset::join(&old, &new).unwrap_err();
            error.to_string()
        };
        assert_eq!(
            message(grey("A", &[0, 1]), of_channels("B", &[0, 1], 3)),
            "data sets \"A\" and \"B\": found images of 1 and 3 channels, expected the same \
             number in both"
        );
        assert_eq!(
            message(grey("A", &[0, 1]), grey("B", &[0])),
            "data set \"B\": found 1 images, expected at least 2"
        );
    }
}
