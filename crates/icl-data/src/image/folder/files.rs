//! The image files of a folder, decoded when they are asked for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::packed::read_file;
use super::super::raster::Image;
use super::cache::ImageCache;
use super::decode;
use super::walk::{ListedFile, name_bytes};
use crate::error::DataError;
use crate::place::FileRef;

/// The files of one folder and what is held of their decoded images.
pub(in super::super) struct ImageFiles {
    root: PathBuf,
    /// Path relative to `root`, and length in bytes.
    files: Vec<(PathBuf, u64)>,
    cache: ImageCache,
}

impl ImageFiles {
    pub(super) fn new(root: &Path, files: Vec<ListedFile>, cache_bytes: usize) -> Self {
        Self {
            root: root.to_path_buf(),
            files: files
                .into_iter()
                .map(|file| (file.relative, file.n_bytes))
                .collect(),
            cache: ImageCache::new(cache_bytes),
        }
    }

    /// The decoded image.
    pub(in super::super) fn image(&self, index: usize) -> Result<Arc<Image>, DataError> {
        if let Some(image) = self.cache.get(index) {
            return Ok(image);
        }
        // Two threads may decode one image at the same time, and no thread waits for another.
        let file = self.file_ref(index);
        let image = Arc::new(decode::image(&file, &read_file(&file)?)?);
        self.cache.insert(index, Arc::clone(&image));
        Ok(image)
    }

    /// Width times height by the file's header.
    pub(in super::super) fn n_pixels(&self, index: usize) -> Result<usize, DataError> {
        let (width, height) = decode::sides(&self.file_ref(index))?;
        Ok(width as usize * height as usize)
    }

    /// The relative name in bytes, and the length when the folder was read.
    pub(in super::super) fn identity(&self, index: usize) -> (Vec<u8>, u64) {
        let (relative, n_bytes) = &self.files[index];
        (name_bytes(relative), *n_bytes)
    }

    fn file_ref(&self, index: usize) -> FileRef {
        FileRef::on_disk(&self.root.join(&self.files[index].0))
    }
}
