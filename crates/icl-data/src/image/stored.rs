//! Where the pixels of one image are.

use std::borrow::Cow;
use std::sync::Arc;

use super::folder::ImageFiles;
use super::raster::Image;
use crate::error::DataError;

/// An image in memory, or a file that is decoded when it is asked for.
#[derive(Clone)]
pub(super) enum StoredImage {
    Held(Arc<Image>),
    File {
        files: Arc<ImageFiles>,
        /// The file's place among `files`.
        index: usize,
    },
}

impl StoredImage {
    pub(super) fn image(&self) -> Result<Cow<'_, Arc<Image>>, DataError> {
        match self {
            Self::Held(image) => Ok(Cow::Borrowed(image)),
            Self::File { files, index } => files.image(*index).map(Cow::Owned),
        }
    }

    /// Width times height.
    pub(super) fn n_pixels(&self) -> Result<usize, DataError> {
        match self {
            Self::Held(image) => Ok(image.width() * image.height()),
            Self::File { files, index } => files.n_pixels(*index),
        }
    }

    /// Adds what identifies the image to a checksum: its shape and pixels if they are held, else
    /// its relative name and length.
    pub(super) fn identify(&self, sum: &mut crc32fast::Hasher) {
        match self {
            Self::Held(image) => {
                for side in [image.width(), image.height(), image.channels()] {
                    sum.update(&(side as u64).to_le_bytes());
                }
                sum.update(image.pixels());
            }
            Self::File { files, index } => {
                let (name, n_bytes) = files.identity(*index);
                sum.update(&(name.len() as u64).to_le_bytes());
                sum.update(&name);
                sum.update(&n_bytes.to_le_bytes());
            }
        }
    }
}
