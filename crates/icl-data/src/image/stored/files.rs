//! Images in memory or in files, which are decoded on demand.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::cache::ImageCache;
use super::decode;
use crate::disk::read_file;
use crate::error::DataError;
use crate::image::raster::Image;
use crate::place::FileRef;

/// An image in memory, or a file that is decoded on demand.
#[derive(Clone)]
pub(in crate::image) enum StoredImage {
    Held(Arc<Image>),
    File {
        files: Arc<ImageFiles>,
        /// Index of the file in `files`.
        index: usize,
    },
}

impl StoredImage {
    pub(in crate::image) fn image(&self) -> Result<Cow<'_, Arc<Image>>, DataError> {
        match self {
            Self::Held(image) => Ok(Cow::Borrowed(image)),
            Self::File { files, index } => files.image(*index).map(Cow::Owned),
        }
    }

    /// Returns width times height.
    pub(in crate::image) fn n_pixels(&self) -> Result<usize, DataError> {
        match self {
            Self::Held(image) => Ok(image.width() * image.height()),
            Self::File { files, index } => files.n_pixels(*index),
        }
    }

    /// Returns the relative path of its file in bytes; `None` for an image in memory.
    pub(in crate::image) fn path(&self) -> Option<Vec<u8>> {
        match self {
            Self::Held(_) => None,
            Self::File { files, index } => Some(files.identity(*index).0),
        }
    }

    /// Adds the identity of the image to a checksum: its shape and pixels if it is in memory, else
    /// its relative name and length.
    pub(in crate::image) fn identify(&self, sum: &mut crc32fast::Hasher) {
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

/// Image files of one folder, with a cache of their decoded images.
pub(in crate::image) struct ImageFiles {
    root: PathBuf,
    /// Path relative to `root`, and length in bytes.
    files: Vec<(PathBuf, u64)>,
    cache: ImageCache,
}

impl ImageFiles {
    /// Takes the path of each file, relative to `root`, and its length in bytes.
    pub(in crate::image) fn new(
        root: &Path,
        files: Vec<(PathBuf, u64)>,
        cache_bytes: usize,
    ) -> Self {
        Self {
            root: root.to_path_buf(),
            files,
            cache: ImageCache::new(cache_bytes),
        }
    }

    /// Returns the decoded image.
    fn image(&self, index: usize) -> Result<Arc<Image>, DataError> {
        if let Some(image) = self.cache.get(index) {
            return Ok(image);
        }
        // Two threads may decode the same image at the same time, so that none waits for another.
        let file = self.file_ref(index);
        let image = Arc::new(decode::image(&file, &read_file(&file)?)?);
        self.cache.insert(index, Arc::clone(&image));
        Ok(image)
    }

    /// Returns width times height by the file's header.
    fn n_pixels(&self, index: usize) -> Result<usize, DataError> {
        let (width, height) = decode::sides(&self.file_ref(index))?;
        Ok(width as usize * height as usize)
    }

    /// Returns the relative name in bytes, and the length at the time when the folder was listed.
    fn identity(&self, index: usize) -> (Vec<u8>, u64) {
        let (relative, n_bytes) = &self.files[index];
        (name_bytes(relative), *n_bytes)
    }

    /// Returns the path of the file, and its path relative to the folder that was read.
    pub(in crate::image) fn location(&self, index: usize) -> (PathBuf, &Path) {
        let relative = &self.files[index].0;
        (self.root.join(relative), relative)
    }

    fn file_ref(&self, index: usize) -> FileRef {
        FileRef::on_disk(&self.root.join(&self.files[index].0))
    }
}

/// Returns a relative path in bytes, with `/` between its parts on every system.
pub(in crate::image) fn name_bytes(relative: &Path) -> Vec<u8> {
    let parts: Vec<&[u8]> = relative
        .iter()
        .map(|part| part.as_encoded_bytes())
        .collect();
    parts.join(&b'/')
}
