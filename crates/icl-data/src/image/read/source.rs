//! Input of the readers: options and paths.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{DataError, unreadable};
use crate::image::error::no_such_images;
use crate::place::FileRef;

/// Selection of images and settings of their reader.
///
/// ```
/// use icl_data::ImageOptions;
///
/// let options = ImageOptions {
///     classes: vec!["1".into(), "7".into()],
///     limit: Some(500),
///     ..ImageOptions::default()
/// };
/// assert!(!options.skip_broken);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageOptions {
    /// Classes to keep, in any order; empty keeps all. See
    /// [`ImageDataset::select`](crate::ImageDataset::select).
    pub classes: Vec<String>,
    /// Maximum number of images; `None` keeps all. See
    /// [`ImageDataset::select`](crate::ImageDataset::select).
    pub limit: Option<usize>,
    /// `true` to skip and count broken image files instead of failing.
    ///
    /// To find them, every image of a folder is decoded once when the folder is read. IDX and CIFAR
    /// files are not affected: they are intact as a whole or rejected.
    pub skip_broken: bool,
    /// Maximum size in bytes of the decoded images of a folder that are kept in memory.
    ///
    /// IDX and CIFAR files are always in memory as a whole.
    pub cache_bytes: usize,
}

impl Default for ImageOptions {
    /// Keeps all images, fails on broken ones, and caches 1 GiB of decoded images.
    fn default() -> Self {
        Self {
            classes: Vec::new(),
            limit: None,
            skip_broken: false,
            cache_bytes: 1 << 30,
        }
    }
}

/// Returns the metadata of the file or folder at `path`.
///
/// # Errors
/// [`DataError`] if nothing exists there, and for every other error of the operating system.
pub(super) fn metadata(path: &Path) -> Result<Metadata, DataError> {
    fs::metadata(path).map_err(|source| match source.kind() {
        ErrorKind::NotFound => no_such_images(path),
        _ => unreadable(FileRef::on_disk(path), source),
    })
}

/// Returns the name of a data set that is read from this folder: the folder's own name.
pub(super) fn folder_name(path: &Path) -> String {
    let name = |path: &Path| Some(path.file_name()?.to_string_lossy().into_owned());
    // A path such as `.` does not contain the folder's name.
    let absolute = || name(&path.canonicalize().ok()?);
    name(path)
        .or_else(absolute)
        .unwrap_or_else(|| "images".into())
}
