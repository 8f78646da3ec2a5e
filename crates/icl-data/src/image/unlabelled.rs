//! Images without labels.

use super::dataset::{ImageCounts, ImageDataset};
use crate::error::DataError;
use crate::place::Found;

/// Name of the one class of images without labels, as of rows of a table without classes.
const UNLABELLED: &str = "unlabelled";

impl ImageDataset {
    /// Returns `true` if the images have classes.
    pub fn has_labels(&self) -> bool {
        self.has_labels
    }

    /// Checks that the images have classes; `needed_by` is what they are needed for, for the error.
    ///
    /// # Errors
    /// [`DataError`] if they have none.
    pub fn check_labels(&self, needed_by: &str) -> Result<(), DataError> {
        if self.has_labels {
            return Ok(());
        }
        Err(DataError::new(
            Found::new(&self.name),
            format!("no classes for {needed_by}"),
            "a folder with one folder of images per class",
        ))
    }

    /// Returns the images as ones without labels, all of one class.
    pub(super) fn without_labels(self) -> Self {
        Self {
            labels: vec![0; self.images.len()].into(),
            class_names: [UNLABELLED.to_owned()].into(),
            has_labels: false,
            aliases: &[],
            counts: ImageCounts {
                n_class: vec![self.images.len()],
                ..self.counts
            },
            ..self
        }
    }
}
