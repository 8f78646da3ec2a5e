//! Images of one size as a table of their pixels.

use icl_core::Samples;

use super::error::TablesError;
use super::table::{RawColumn, RawTable, RawValues};
use crate::error::DataError;
use crate::image::ImageDataset;
use crate::place::Found;

impl RawTable {
    /// Creates a table of the pixels of images of one size, a row for each image and a column for each value
    /// of a pixel, from 0 to 255, row by row from the top, the channels of a pixel one after the other.
    /// Classes are those of the images.
    ///
    /// The DACL paper takes images with permuted pixels as tables; for an encoder whose first layer sees all
    /// columns alike the order makes no difference.
    ///
    /// # Errors
    /// [`DataError::Tables`] with [`TablesError::Sizes`] if the images differ in size, and the errors of an
    /// image that cannot be read.
    pub fn of_pixels(images: &ImageDataset) -> Result<Self, DataError> {
        let mut columns: Vec<Vec<f32>> = Vec::new();
        let mut first: Option<[usize; 3]> = None;
        for index in 0..images.n_images() {
            let image = images.sample(index).map_err(|source| TablesError::Image {
                data: Found::new(images.name()),
                index,
                source,
            })?;
            let found = [image.height(), image.width(), image.channels()];
            let expected = *first.get_or_insert(found);
            if found != expected {
                return Err(TablesError::Sizes {
                    data: Found::new(images.name()),
                    index,
                    found,
                    expected,
                }
                .into());
            }
            columns.resize_with(found.iter().product(), || Vec::with_capacity(images.n_images()));
            for (column, &value) in columns.iter_mut().zip(image.pixels()) {
                column.push(f32::from(value));
            }
        }
        let named = |(index, values)| RawColumn {
            name: format!("p{index}"),
            values: RawValues::Numbers(values),
        };
        let columns = columns.into_iter().enumerate().map(named).collect();
        let classes = (
            "class".to_owned(),
            images.labels().to_vec(),
            images.class_names().to_vec(),
        );
        Ok(Self::from_parts(
            images.name().to_owned(),
            images.n_images(),
            columns,
            Some(classes),
        ))
    }
}
