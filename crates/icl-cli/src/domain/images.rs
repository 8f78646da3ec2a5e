//! Code that the encoders of images share.

use std::sync::Arc;

use anyhow::anyhow;
use icl_core::{Error, Samples, Views};
use icl_data::{Image, ImageDataset, ImageView};
use icl_eval::Matrix;
use icl_models::StoredEncoder;

use crate::domain::data::Data;
use crate::options::bounds::IMAGE_SIDE;
use crate::process::failure::Failure;

/// Returns data that are images.
pub fn images(data: Data) -> Option<ImageDataset> {
    match data {
        Data::Images(images) => Some(images),
        _ => None,
    }
}

/// Checks that images have the number of channels that an encoder takes.
///
/// # Errors
/// If they have another one; without a place.
pub fn check_channels(data: &ImageDataset, expected: usize) -> Result<(), Error> {
    let found = data.channels();
    if found == expected {
        return Ok(());
    }
    Err(Error::new(
        "",
        format!("images of {found} channels"),
        format!("{expected} channels"),
    ))
}

/// Returns the pixels of the centre view of each image. The views are at most 32 x 32: a larger matrix would
/// not fit into memory where the images do not.
///
/// # Errors
/// If an image cannot be read.
pub fn pixels(
    (data, samples): (&ImageDataset, &[usize]),
    views: &impl Views<Sample = Arc<Image>, View = ImageView>,
) -> Result<Option<Matrix>, Failure> {
    let mut values = Vec::new();
    let mut width = 0;
    for &index in samples {
        let image = data
            .sample(index)
            .map_err(|error| Failure::Input(anyhow!(error)))?;
        let view = views.plain(&image);
        width = view.values().len();
        values.extend(view.values().iter().copied().map(f64::from));
    }
    let pixels = Matrix::try_new(values, width);
    pixels
        .map(Some)
        .map_err(|error| Failure::Other(error.into()))
}

/// Checks the side of the views of images: those of a batch are in memory at once.
///
/// # Errors
/// If it is larger than the option may be.
pub fn check_side(file: &StoredEncoder, size: usize) -> Result<(), Error> {
    match size <= IMAGE_SIDE {
        true => Ok(()),
        false => Err(file.wrong(
            format!("views of {size} pixels a side"),
            format!("at most {IMAGE_SIDE}"),
        )),
    }
}
