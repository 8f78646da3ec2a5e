//! Selection of classes and of a number of images.

use super::dataset::{ImageCounts, ImageDataset};
use crate::error::DataError;
use crate::selection::{classes_of, n_class, selected};

impl ImageDataset {
    /// Keeps the images of some classes, and at most `limit` of them, balanced across classes.
    ///
    /// `classes` names the classes to keep, in any order; if empty, all are kept. Classes of CIFAR-10
    /// can also be selected by their English names. Classes and images keep their order, and the
    /// classes are numbered from 0 again.
    ///
    /// With a limit, the first images of each class are kept, one of each class in turn until `limit`
    /// is reached: classes with enough images keep equally many, the first ones possibly one more.
    /// If the data set has at most `limit` images, all are kept. If it has more than `limit`
    /// classes, those that get no image are dropped.
    ///
    /// # Errors
    /// [`DataError`]
    /// - if classes are named and the images have none;
    /// - if the data set has no class of a given name;
    /// - if a class is given twice;
    /// - if the limit is below 4, too few for two old and two new images.
    pub fn select(self, classes: &[String], limit: Option<usize>) -> Result<Self, DataError> {
        if !classes.is_empty() {
            self.check_labels("the option classes")?;
        }
        let classes = self.without_aliases(classes);
        let of = (&*self.name, "images");
        let kept = selected(of, &self.labels, &self.class_names, &classes, limit)?;
        if kept.len() == self.n_images() {
            return Ok(self);
        }
        Ok(self.keep(&kept))
    }

    /// Keeps the images with these indices; classes without any are dropped.
    pub(super) fn keep(self, indices: &[usize]) -> Self {
        let labels = indices.iter().map(|&i| self.labels[i]);
        let (kept, new_class) = classes_of(labels.clone(), self.class_names.len());
        let labels: Vec<usize> = labels.map(|label| new_class[label]).collect();
        let class_names = kept.iter().map(|&class| self.class_names[class].clone());
        Self {
            images: indices.iter().map(|&i| self.images[i].clone()).collect(),
            positions: indices.iter().map(|&i| self.positions[i]).collect(),
            class_names: class_names.collect(),
            counts: ImageCounts {
                n_class: n_class(labels.iter().copied(), kept.len()),
                ..self.counts
            },
            labels: labels.into(),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::raster::Image;

    /// Images of one pixel, whose value is their index, with these labels.
    fn numbered(labels: &[u8]) -> ImageDataset {
        let images = (0..labels.len()).map(|index| Image::new(1, 1, 1, vec![index as u8]));
        ImageDataset::of_numbers("N".into(), images.collect(), labels, 1)
    }

    fn places(data: &ImageDataset) -> Vec<u8> {
        let image =
            |stored: &super::super::stored::StoredImage| stored.image().unwrap().pixels()[0];
        data.images.iter().map(image).collect()
    }

    fn names(classes: &[&str]) -> Vec<String> {
        classes.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn classes_keep_the_order_of_the_data_and_are_counted_again() {
        let data = numbered(&[7, 1, 9, 7, 1, 3]);
        assert_eq!(data.class_names(), ["1", "3", "7", "9"]);
        assert_eq!(data.labels(), [2, 0, 3, 2, 0, 1]);
        let some = data.select(&names(&["9", "1", "7"]), None).unwrap();
        assert_eq!(some.class_names(), ["1", "7", "9"]);
        assert_eq!(some.labels(), [1, 0, 2, 1, 0]);
        assert_eq!(places(&some), [0, 1, 2, 3, 4]);
        assert_eq!(some.counts().n_class, [2, 2, 1]);
        let one = some.select(&names(&["7"]), None).unwrap();
        assert_eq!(one.labels(), [0, 0]);
        assert_eq!(places(&one), [0, 3]);
    }

    #[test]
    fn a_limit_keeps_the_first_of_each_class() {
        let data = numbered(&[5, 5, 5, 5, 5, 2, 2, 8, 2]);
        let limited = |limit| data.clone().select(&[], Some(limit)).unwrap();
        assert_eq!(places(&limited(4)), [0, 5, 6, 7]);
        assert_eq!(places(&limited(6)), [0, 1, 5, 6, 7, 8]);
        assert_eq!(limited(6).counts().n_class, [3, 2, 1]);
        for limit in [9, 10, usize::MAX] {
            assert_eq!(limited(limit).n_images(), 9);
        }
        let most = numbered(&[0, 1, 2, 3, 4, 5]).select(&[], Some(4)).unwrap();
        assert_eq!(most.class_names(), ["0", "1", "2", "3"]);
        let both = data.select(&names(&["5", "2"]), Some(5)).unwrap();
        assert_eq!(both.labels(), [1, 1, 0, 0, 0]);
    }

    #[test]
    fn what_cannot_be_selected_is_an_error() {
        let data = numbered(&[0, 1, 1, 4]);
        let rejected = |classes: &[&str], limit, message: &str| {
            let error = data.clone().select(&names(classes), limit).unwrap_err();
            assert_eq!(error.to_string(), message);
        };
        rejected(
            &["1", "2"],
            None,
            "data set \"N\": found no class \"2\", expected classes among 0, 1, 4",
        );
        rejected(
            &["1", "0", "1"],
            None,
            "data set \"N\": found class \"1\" twice, expected each of 0, 1, 4 at most once",
        );
        for limit in [0, 3] {
            rejected(
                &[],
                Some(limit),
                &format!("limit: found {limit} images, expected at least 4"),
            );
        }
    }
}
