//! Images of one size as a table of their pixels.

use crate::error::DataError;
use crate::image::ImageDataset;
use crate::place::Found;
use crate::tabular::RawTable;

/// Creates a table of the pixels of images of one size: a row for each image and a column for each value of a
/// pixel, from 0 to 255, row by row from the top, the channels of a pixel one after the other. Classes are
/// those of the images.
///
/// The DACL paper takes images with permuted pixels as tables (Verma et al., 2021, section 5.1). For an encoder
/// whose first layer treats all columns alike, the order of columns makes no difference.
///
/// # Errors
/// [`DataError`] if the images differ in size, or if an image cannot be read.
pub fn table_of_pixels(images: &ImageDataset) -> Result<RawTable, DataError> {
    let mut columns: Vec<(String, Vec<f32>)> = Vec::new();
    let mut first: Option<[usize; 3]> = None;
    for index in 0..images.n_images() {
        let image = images.image(index)?;
        let found = [image.height(), image.width(), image.channels()];
        let expected = *first.get_or_insert(found);
        if found != expected {
            return Err(DataError::new(
                format!("data set {}, image {index}", Found::new(images.name())),
                format!(
                    "{} x {} pixels of {} channels",
                    found[0], found[1], found[2]
                ),
                format!(
                    "{} x {} of {}, the size of the first image: pixels become columns",
                    expected[0], expected[1], expected[2]
                ),
            ));
        }
        if columns.is_empty() {
            let of_pixel = |at| (format!("p{at}"), Vec::with_capacity(images.n_images()));
            columns = (0..image.pixels().len()).map(of_pixel).collect();
        }
        for ((_, column), &value) in columns.iter_mut().zip(image.pixels()) {
            column.push(f32::from(value));
        }
    }
    let classes = (images.labels().to_vec(), images.class_names().to_vec());
    Ok(RawTable::of_numbers(
        images.name(),
        columns,
        images.n_images(),
        Some(classes),
    ))
}
