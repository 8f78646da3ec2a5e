//! Detection of the format of images at a path.

use std::fs;
use std::path::Path;

use walkdir::WalkDir;

use super::cifar::read_cifar;
use super::folder::read_image_folder;
use super::idx::read_idx;
use super::listing::{holds_images, is_image_name};
use super::names::{IdxName, cifar_files, images_file, is_cifar_name};
use super::source::{ImageOptions, metadata};
use crate::disk::list_folder;
use crate::error::DataError;
use crate::graph::is_edge_list;
use crate::image::dataset::ImageDataset;
use crate::image::error::not_images;

/// Reads a data set of images from a file or folder and detects its format.
///
/// | `path` | reader |
/// |---|---|
/// | a file `NAME-images-idx3-ubyte`, or a folder with such a file in it | [`read_idx`] |
/// | a file `NAME.bin`, or a folder with such a file in it | [`read_cifar`] |
/// | any other folder | [`read_image_folder`] |
///
/// The names of gzip-compressed files end in `.gz`. The first matching row of the table applies.
///
/// ```no_run
/// use icl_data::{ImageOptions, read_images};
///
/// let options = ImageOptions {
///     classes: vec!["ants".into(), "bees".into()],
///     ..ImageOptions::default()
/// };
/// let photos = read_images("photos/train", &options)?;
/// println!("{} images: {:?}", photos.n_images(), photos.counts().n_class);
/// # Ok::<(), icl_data::DataError>(())
/// ```
///
/// # Errors
/// A [`DataError`] that names the file or folder, what was found and what was expected, if `path` has
/// none of these formats, and the errors of the readers.
pub fn read_images(
    path: impl AsRef<Path>,
    options: &ImageOptions,
) -> Result<ImageDataset, DataError> {
    let path = path.as_ref();
    if metadata(path)?.is_dir() {
        let (files, _) = list_folder(path)?;
        if images_file(path, &files)?.is_some() {
            return read_idx(path, options);
        }
        if cifar_files(path, &files)?.is_some() {
            return read_cifar(path, options);
        }
        return read_image_folder(path, options);
    }
    let name = path.file_name().and_then(|name| name.to_str());
    match name {
        Some(name) if IdxName::of_images(name).is_some() => read_idx(path, options),
        Some(name) if is_cifar_name(name) => read_cifar(path, options),
        _ => Err(not_images(path)),
    }
}

/// Returns `true` if `path` is for [`read_images`] rather than for [`read_tu`](crate::read_tu), by
/// names only.
///
/// A file is for [`read_images`] if it has the name of an IDX file, a CIFAR file or an image. A
/// folder is if it holds an IDX or CIFAR file, or if it holds an image at most four folders deep and
/// neither it nor a folder in it holds the edge list of a TU data set. The result does not promise
/// that `path` can be read: a single image, for instance, is rejected by the reader with a message
/// that says what it expects.
pub fn looks_like_images(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    let is_named = |name: &str| IdxName::of_images(name).is_some() || is_cifar_name(name);
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            let (files, _) = list_folder(path).unwrap_or_default();
            files.iter().any(|file| is_named(file)) || !holds_graphs(path) && holds_images(path)
        }
        Ok(_) => path
            .file_name()
            .is_some_and(|name| is_image_name(name) || name.to_str().is_some_and(is_named)),
        Err(_) => false,
    }
}

/// Returns `true` if a folder, or a folder in it, holds the edge list of a TU data set.
fn holds_graphs(folder: &Path) -> bool {
    WalkDir::new(folder)
        .follow_links(true)
        .max_depth(2)
        .into_iter()
        .filter_map(Result::ok)
        .any(|entry| entry.file_name().to_str().is_some_and(is_edge_list))
}
