//! Images and labels in IDX files.

use std::path::Path;

use anyhow::Result;
use icl::data::{ImageOptions, read_images};

use super::reader::{Format, Told};
use crate::parts::{Part, Valid, gzip};

/// Returns the format.
pub fn format() -> Result<Format> {
    let mut images = b"\0\0\x08\x03\0\0\0\x04\0\0\0\x03\0\0\0\x02".to_vec();
    images.extend(0..24);
    let labels = b"\0\0\x08\x01\0\0\0\x04\x01\x07\x01\x07".to_vec();
    let parts = vec![
        Part::new("train-images-idx3-ubyte", images),
        Part::new("train-labels-idx1-ubyte", labels),
    ];
    Ok(Format {
        name: "idx",
        valid: vec![Valid::plain(parts.clone()), Valid { parts, pack: gzip }],
        words: &["\0\0\x08\x03", "\0\0\x08\x01", "\x1f\u{8b}"],
        memory: 0,
        read: Box::new(read),
    })
}

/// Reads the images in a folder, and decodes each.
///
/// # Errors
/// The error that a user reads.
pub fn read(folder: &Path) -> Result<(), Told> {
    let images = read_images(folder, &ImageOptions::default()).map_err(Told::of)?;
    images.sizes().map_err(Told::of)?;
    for index in 0..images.n_images().min(100) {
        images.image(index).map_err(Told::of)?;
    }
    Ok(())
}
